//! Segments and backups in a bucket of a server that others have written, which fails when it is asked to.

use std::process::Command;

use anyhow::Result;

use super::compile::passes;
use super::venv::{Servers, Venv};
use crate::suite::{Context, Outcome};

const SERVER: &str = "xtask/src/suites/objects/server.py";
const PACKAGES: [&str; 3] = ["moto[s3]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let bucket = Bucket::start(context)?;
    let mut test = context.built()?.target("apps/cloud", "it")?;
    // One at a time: a fault is for all that the server is asked.
    test.args(["objects::", "--test-threads=1"]);
    bucket.tell(&mut test);
    passes(context, test)
}

/// A server with a bucket. It ends when this is dropped.
pub(super) struct Bucket(Servers);

impl Bucket {
    pub(super) fn start(context: &Context) -> Result<Self> {
        let venv = Venv::new(&context.programs()?.join("objects-venv"))?;
        venv.install(&PACKAGES)?;
        let mut command = venv.python();
        command.arg(SERVER);
        Ok(Self(Servers::start(command)?))
    }

    /// Names it, and its keys, to tests.
    pub(super) fn tell(&self, test: &mut Command) {
        test.env("SOTTO_BUCKET", "s3://plant");
        test.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.0.port("port")));
        test.env("AWS_REGION", "us-east-1");
        test.env("AWS_ACCESS_KEY_ID", "device").env("AWS_SECRET_ACCESS_KEY", "of-a-test");
    }
}
