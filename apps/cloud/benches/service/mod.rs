//! A cloud that a benchmark sends to.

use std::thread::JoinHandle;

use anyhow::Context as _;
use sotto_cloud::config::{Config, Settings};
use sotto_cloud::server::Server;
use sotto_wire::StreamHeader;
use tempfile::TempDir;
use tokio::sync::oneshot;

const TOKEN: &str = "the-owner-of-this-bench";

/// A running cloud.
pub(crate) struct Cloud {
    pub(crate) url: String,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<anyhow::Result<()>>,
    folder: TempDir,
}

impl Cloud {
    /// Starts a cloud with its store in a folder.
    pub(crate) fn start(folder: TempDir) -> anyhow::Result<Self> {
        let token = folder.path().join("token");
        sotto_service::token::write_private(&token, &format!("{TOKEN}\n"))?;
        let config = Config::new(Settings {
            listen: Some("127.0.0.1:0".parse()?),
            data: Some(folder.path().join("data")),
            owner_token_file: Some(token),
            ..Settings::default()
        })?;
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell, address) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            tokio::runtime::Runtime::new()?.block_on(async {
                let server = Server::open(&config).await?;
                tell.send(server.address())?;
                server.serve(async { drop(stopped.await) }).await
            })
        });
        let url = format!("http://{}", address.recv()?);
        Ok(Self { url, stop, thread, folder })
    }

    /// Registers the device of a stream.
    pub(crate) fn register(&self, header: &StreamHeader, verifying_key: [u8; 32]) -> anyhow::Result<()> {
        let registration = serde_json::json!({
            "verifying_key": hex::encode(verifying_key),
            "keys": [{ "parameter_id": header.parameters().to_string(), "key_id": header.key().to_string() }],
            "streams": [hex::encode(header.write())],
        });
        let put = ureq::put(format!("{}/v1/devices/{}", self.url, header.device()));
        let put = put.header("authorization", format!("Bearer {TOKEN}")).header("if-none-match", "*");
        put.send(registration.to_string().as_bytes())?;
        Ok(())
    }

    /// Sends a message over a connection of an agent, and waits for the answer.
    pub(crate) fn upload(&self, agent: &ureq::Agent, key: &str, message: &[u8]) -> anyhow::Result<()> {
        let post = agent.post(format!("{}/v1/envelopes", self.url)).header("idempotency-key", key);
        post.send(message)?.body_mut().read_to_vec()?;
        Ok(())
    }

    /// Ends the cloud. Returns the folder with its store.
    pub(crate) fn stop(self) -> anyhow::Result<TempDir> {
        drop(self.stop);
        self.thread.join().ok().context("the cloud panicked")??;
        Ok(self.folder)
    }
}
