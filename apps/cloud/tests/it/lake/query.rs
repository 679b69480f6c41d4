//! Queries of the program.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

/// Returns the program, if the environment names it: `cargo ci scaleout` does.
pub(crate) fn program() -> Option<Command> {
    std::env::var_os("SOTTO_LAKE").map(Command::new)
}

/// The arguments of `sotto-lake sql` behind the query.
pub(crate) struct Lake {
    arguments: Vec<String>,
}

impl Lake {
    /// Returns the lake over a store.
    pub(crate) fn over(store: &Path, arguments: &[&str]) -> Self {
        let store = ["--store", store.to_str().unwrap()].into_iter().chain(arguments.iter().copied());
        Self { arguments: store.map(str::to_owned).collect() }
    }

    pub(crate) fn run(&self, sql: &str, more: &[&str]) -> Output {
        program().unwrap().args(["sql", sql]).args(&self.arguments).args(more).output().unwrap()
    }

    /// Returns the lines of an answer in CSV, without the names of the columns; or the error.
    pub(crate) fn lines(&self, sql: &str) -> Result<Vec<String>, String> {
        let output = self.run(sql, &["--csv"]);
        if !output.status.success() {
            return Err(String::from_utf8(output.stderr).unwrap());
        }
        Ok(String::from_utf8(output.stdout).unwrap().lines().skip(1).map(str::to_owned).collect())
    }

    /// Runs a query whose first column is a text, and whose second one is a sum.
    pub(crate) fn frames(&self, sql: &str) -> Result<BTreeMap<String, Vec<u8>>, String> {
        let pair = |line: String| {
            let (key, sum) = line.rsplit_once(',').unwrap();
            (key.to_owned(), hex::decode(sum).unwrap())
        };
        Ok(self.lines(sql)?.into_iter().map(pair).collect())
    }

    /// Runs a query whose only value is a whole number.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.lines(sql).unwrap()[0].parse().unwrap()
    }
}
