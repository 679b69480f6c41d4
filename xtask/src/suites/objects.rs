//! Segments and backups in a bucket of a server that others have written, which fails when it is asked to.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::compile::passes;
use super::venv::Venv;
use crate::suite::{Context, Outcome};

const SERVER: &str = "xtask/src/suites/objects/server.py";
const PACKAGES: [&str; 3] = ["moto[s3]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5"];

/// The server. It ends when it is dropped.
struct Server {
    process: Child,
    port: u64,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start(venv: &Venv) -> Result<Self> {
        let mut command = venv.python();
        command.arg(SERVER).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().context("the server cannot be started")?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("no output")?).read_line(&mut line)?;
        let told: Value = serde_json::from_str(&line).unwrap_or_default();
        let server = Self { process, port: told["port"].as_u64().unwrap_or_default() };
        ensure!(server.port > 0, "the server does not start: {line}");
        Ok(server)
    }
}

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let built = context.built()?;
    let programs = built.program("sotto")?.parent().context("a program is in a folder")?;
    let venv = Venv::new(&programs.join("objects-venv"))?;
    venv.install(&PACKAGES)?;
    let server = Server::start(&venv)?;
    let mut test = built.target("apps/cloud", "it")?;
    // One at a time: a fault is for all that the server is asked.
    test.args(["objects::", "--test-threads=1"]).env("SOTTO_BUCKET", "s3://plant");
    test.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", server.port));
    test.env("AWS_REGION", "us-east-1");
    test.env("AWS_ACCESS_KEY_ID", "device").env("AWS_SECRET_ACCESS_KEY", "of-a-test");
    passes(context, test)
}
