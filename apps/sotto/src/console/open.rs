//! How a browser gets its first code: a file of the plant's owner leads it to the page. Nothing secret is in the arguments of
//! a process or in an address that is sent: the code stands behind the `#`.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::Console;
use super::access::random;

/// Leads the browser to the page, with a code.
const PAGE: &str = "open.html";
/// Tells `sotto console --code` the way to the console that runs.
const RUNNING: &str = "running";
/// The folder of these files, in the plant's. No backup has it.
const FOLDER: &str = "console";

/// A console that runs: the two lines of its file.
struct Running {
    address: SocketAddr,
    token: Zeroizing<String>,
}

/// Makes a token for `sotto console --code`.
pub(super) fn new_token() -> anyhow::Result<Zeroizing<String>> {
    Ok(Zeroizing::new(hex::encode(*random::<32>()?)))
}

/// The files of a console that runs, deleted when it ends.
pub(super) struct Files {
    page: PathBuf,
    running: PathBuf,
    /// The token, by which the files of another console are told apart.
    token: Zeroizing<String>,
}

impl Files {
    pub(super) fn write(folder: &Path, console: &Console, address: SocketAddr) -> anyhow::Result<Self> {
        let folder = made(folder)?;
        let (page, running) = (folder.join(PAGE), folder.join(RUNNING));
        let code = console.access.new_code()?;
        let leads = Zeroizing::new(format!(
            "<!doctype html><meta charset=\"utf-8\"><title>sotto</title>\
             <meta http-equiv=\"refresh\" content=\"0; url=http://{address}/#code={}\">\n",
            *code
        ));
        private(&page, leads.as_bytes())?;
        private(&running, Zeroizing::new(format!("{address}\n{}\n", *console.token)).as_bytes())?;
        Ok(Self { page, running, token: console.token.clone() })
    }

    pub(super) fn page(&self) -> &Path {
        &self.page
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let is_own = read(&self.running).is_ok_and(|running| *running.token == *self.token);
        if is_own {
            let _ = fs::remove_file(&self.page);
            let _ = fs::remove_file(&self.running);
        }
    }
}

/// Makes the folder, for its owner alone.
fn made(plant: &Path) -> anyhow::Result<PathBuf> {
    let folder = plant.join(FOLDER);
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .recursive(true)
        .create(&folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    Ok(folder)
}

/// Writes a file that its owner alone may read, in place of one that a console has left.
fn private(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if path.exists() {
        fs::remove_file(path).with_context(|| format!("{} cannot be replaced", path.display()))?;
    }
    sotto_keys::make_private(path, bytes).with_context(|| format!("{} cannot be written", path.display()))
}

fn read(path: &Path) -> anyhow::Result<Running> {
    let text = Zeroizing::new(fs::read_to_string(path)?);
    let (address, token) = text.trim_end().split_once('\n').context("two lines")?;
    Ok(Running { address: address.parse()?, token: Zeroizing::new(token.to_owned()) })
}

/// Opens a file in the browser. Returns false if there is none.
pub(super) fn browser(page: &Path) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let is_terminal_alone = cfg!(target_os = "linux")
        && std::env::var_os("DISPLAY").is_none()
        && std::env::var_os("WAYLAND_DISPLAY").is_none();
    if is_terminal_alone {
        return false;
    }
    let mut command = Command::new(opener);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}

/// Asks the console of a plant for a code.
pub(super) fn code(folder: &Path) -> anyhow::Result<Zeroizing<String>> {
    let none = "no console of this plant runs on this machine: start it with `sotto console`";
    let running = read(&folder.join(FOLDER).join(RUNNING)).context(none)?;
    let address = running.address;
    anyhow::ensure!(address.ip().is_loopback(), none);
    // Another program may have the port by now: it does not get the token, and its code is not believed.
    let nonce = hex::encode(*random::<16>()?);
    let asked = proof(&running.token, "ask", &nonce);
    let answer = ureq::post(format!("http://{address}/api/code"))
        .header("x-nonce", &nonce)
        .header("x-proof", &asked)
        .send_empty();
    let text = answer.context(none)?.body_mut().with_config().limit(256).read_to_string().context(none)?;
    let (code, proven) = text.split_once(' ').context(none)?;
    let expected = proof(&running.token, "answer", &format!("{nonce} {code}"));
    anyhow::ensure!(bool::from(proven.as_bytes().ct_eq(expected.as_bytes())), none);
    Ok(Zeroizing::new(code.to_owned()))
}

/// Proves with the token that a text is of the console, or of its owner: BLAKE3 under a key that is derived from it.
pub(super) fn proof(token: &str, of: &str, text: &str) -> String {
    let key = Zeroizing::new(blake3::derive_key("sotto console --code", token.as_bytes()));
    blake3::keyed_hash(&key, format!("{of} {text}").as_bytes()).to_hex().to_string()
}
