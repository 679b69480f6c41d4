//! `sotto publish`: prints a verified answer in a form that may be given to others.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use sotto_owner::{Giving, Published, Row};

use super::export::field;
use super::{Place, show};
use crate::output::say;
use crate::run::Run;

/// Arguments of `sotto publish`.
#[derive(clap::Args, Debug)]
pub(crate) struct Publish {
    /// The answer, by its name in `sotto answers`; it must have been verified
    #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::answer))]
    name: String,
    /// Round polynomials and models to this many digits after the point [default: as many as their bound allows]
    #[arg(long, value_name = "DIGITS", allow_negative_numbers = true, conflicts_with = "flood")]
    round: Option<i32>,
    /// Refuse unless polynomials and models were flooded, as in answers to `shared` questions
    #[arg(long)]
    flood: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Write to this new file instead of the terminal
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

impl Run for Publish {
    fn run(self) -> anyhow::Result<ExitCode> {
        let plant = self.place.open()?;
        let giving = match (self.flood, self.round) {
            (true, _) => Giving::Flood,
            (false, Some(digits)) => Giving::Round(digits),
            (false, None) => Giving::Default,
        };
        let published = plant.publish(&self.name, giving)?;
        let text = if self.json {
            serde_json::to_string_pretty(&published)?
        } else if self.csv {
            csv(&published.rows)
        } else {
            format!("{}\n{}", published.question, show::table_of(&published.rows))
        };
        match &self.out {
            None => say(text.trim_end()),
            Some(file) => write_new(file, &text)?,
        }
        // On standard error, so that a file or pipe receives the answer alone.
        for remark in remarks(&published) {
            eprintln!("{remark}");
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn write_new(file: &PathBuf, text: &str) -> anyhow::Result<()> {
    let written =
        std::fs::OpenOptions::new().write(true).create_new(true).open(file).and_then(|mut opened| {
            std::io::Write::write_all(&mut opened, format!("{}\n", text.trim_end()).as_bytes())
        });
    written.map_err(|error| anyhow::anyhow!("{} cannot be written: {error}", file.display()))
}

fn remarks(published: &Published) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(flooded) = &published.flooded {
        remarks.push(format!(
            "flooded when it was decrypted: {} of at most {} results of a key (s = {}), {} left for the key with the fewest",
            flooded.results, flooded.allowed, flooded.statistical_bits, flooded.left
        ));
    }
    if published.rounded > 0 {
        remarks.push(format!(
            "{} rounded: this protects honest sharing only. For somebody who also holds ciphertexts, ask with `shared` (docs/concepts/publishing.md).",
            show::counted(published.rounded as u64, "value")
        ));
    }
    remarks
}

/// Formats rows as CSV, with all digits of values and bounds.
fn csv(rows: &[Row]) -> String {
    let recur = rows.iter().any(|row| row.recurs.is_some());
    let mut text =
        format!("from,to,{}device,name,value,bound,unit,count,missing\n", if recur { "group," } else { "" });
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for row in rows {
        let device = field(row.subject().unwrap_or_default());
        let group = row.recurs.map_or_else(String::new, |recurs| recurs.to_string());
        let group = if recur { group + "," } else { group };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{},{},{group}{device},{},{},{},{},{},{}",
            row.from,
            row.to,
            field(&row.name),
            number(row.value),
            number(row.bound),
            field(&row.unit),
            row.count,
            row.missing
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plant::show::fixture;

    #[test]
    fn a_comma_in_a_name_stays_in_its_field() {
        let rows = [
            fixture::row("covariance(x, y)", Some("boiler"), 0, Some(-1.5), 0.25),
            fixture::row("mean(\"a\")", None, 1, None, 0.0),
            fixture::row("=1+1", Some("-2"), 2, Some(-3.0), 0.0),
        ];
        let lines: Vec<String> = csv(&rows).lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[3].ends_with(",'-2,'=1+1,-3,0,°C,6,0"), "no formula: {}", lines[3]);
        assert!(lines[1].ends_with(",boiler,\"covariance(x, y)\",-1.5,0.25,°C,6,0"), "{}", lines[1]);
        assert!(lines[2].ends_with(",,\"mean(\"\"a\"\")\",,,°C,0,0"), "{}", lines[2]);
    }
}
