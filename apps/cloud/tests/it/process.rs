//! The program: start, address file, and stop.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::store::contents;
use crate::world::{World, name_of, send, try_send};

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sotto-cloud"));
    let set = std::env::vars_os().map(|(name, _)| name);
    set.filter(|name| name.to_string_lossy().starts_with("SOTTO_CLOUD_")).for_each(|name| {
        command.env_remove(name);
    });
    command
}

pub(crate) fn run(folder: &Path) -> Command {
    if !folder.join("token").exists() {
        sotto_service::token::write_private(&folder.join("token"), "0123456789abcdef0123").unwrap();
    }
    let mut command = program();
    command.args(["run", "--listen", "127.0.0.1:0", "--data"]).arg(folder.join("data"));
    command.arg("--owner-token-file").arg(folder.join("token"));
    command.arg("--address-file").arg(folder.join("address"));
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits for the address file and returns the address.
pub(crate) fn address(folder: &Path) -> String {
    let start = Instant::now();
    loop {
        if let Ok(address) = std::fs::read_to_string(folder.join("address")) {
            return address;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "no address");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn ended(child: Child) -> (Output, String) {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, text)
}

#[test]
fn it_ends_with_its_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = run(folder.path()).arg("--exit-with-stdin").spawn().unwrap();
    let address = address(folder.path());
    assert!(address.parse::<std::net::SocketAddr>().is_ok(), "{address}");
    send("GET", &format!("http://{address}/healthz"), &[], &[]).expect(200);
    drop(child.stdin.take());
    let (output, log) = ended(child);
    assert!(output.status.success() && log.contains("stopped"), "{log}");
    assert!(!log.contains("0123456789abcdef0123"), "the log has the token");
}

#[cfg(unix)]
#[test]
fn it_ends_with_a_signal() {
    for signal in ["-INT", "-TERM"] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = run(folder.path()).env("SOTTO_CLOUD_QUEUE", "3").spawn().unwrap();
        let address = address(folder.path());
        // Without --exit-with-stdin the end of standard input does not matter.
        drop(child.stdin.take());
        send("GET", &format!("http://{address}/readyz"), &[], &[]).expect(200);
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let (output, log) = ended(child);
        assert!(output.status.success() && log.contains("stopped"), "{signal} {log}");
    }
}

#[test]
fn it_refuses_what_it_should_not_do() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |command: &mut Command, reason: &str| {
        let (output, text) = ended(command.stderr(Stdio::piped()).spawn().unwrap());
        assert!(!output.status.success() && text.contains(reason), "{text}");
        assert!(!folder.path().join("data").exists());
    };
    sotto_service::token::write_private(&folder.path().join("token"), "0123456789abcdef0123").unwrap();
    let run = |listen: &str, token: &str| {
        let mut command = program();
        command.args(["run", "--listen", listen, "--owner-token-file"]).arg(folder.path().join(token));
        command.env("SOTTO_CLOUD_DATA", folder.path().join("data"));
        command
    };
    refused(&mut run("0.0.0.0:0", "token"), "TLS");
    refused(&mut run("[::]:0", "token"), "TLS");
    refused(run("0.0.0.0:0", "token").env("SOTTO_CLOUD_ALLOW_PLAIN_HTTP", "false"), "TLS");
    refused(&mut run("127.0.0.1:0", "nothing"), "token");
    refused(run("127.0.0.1:0", "token").args(["--largest-upload", "0"]), "largest_upload");
    refused(program().args(["run", "--listen", "127.0.0.1:0"]), "--data");
}

#[test]
fn a_configuration_file_works_from_every_working_directory() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    sotto_service::token::write_private(&folder.path().join("token"), "0123456789abcdef0123").unwrap();
    let text = "listen = \"127.0.0.1:0\"\ndata = \"data\"\nowner_token_file = \"token\"\n\
                address_file = \"address\"\nexit_with_stdin = true";
    std::fs::write(folder.path().join("cloud.toml"), text).unwrap();
    let mut child = program()
        .args(["run", "--config"])
        .arg(folder.path().join("cloud.toml"))
        .current_dir(elsewhere.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let address = address(folder.path());
    send("GET", &format!("http://{address}/readyz"), &[], &[]).expect(200);
    drop(child.stdin.take());
    let (output, log) = ended(child);
    assert!(output.status.success(), "{log}");
    assert!(folder.path().join("data/cloud.sqlite").exists());
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn it_prints_a_configuration_that_it_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let printed = program().args(["config", "print-default"]).output().unwrap();
    assert!(printed.status.success());
    let file = folder.path().join("cloud.toml");
    std::fs::write(&file, &printed.stdout).unwrap();
    let validate = |file: &Path| program().args(["config", "validate"]).arg(file).output().unwrap().status;
    assert!(validate(&file).success());
    std::fs::write(&file, "listen = \"0.0.0.0:80\"").unwrap();
    assert!(!validate(&file).success());
    std::fs::write(&file, "listem = 1").unwrap();
    assert!(!validate(&file).success());
}

#[test]
fn a_configuration_is_checked_as_a_start_checks_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    sotto_service::token::write_private(&path("token"), "0123456789abcdef0123").unwrap();
    std::fs::write(path("open"), "0123456789abcdef0123").unwrap();
    std::fs::write(path("no-key"), "00").unwrap();
    std::fs::write(path("a-file"), "").unwrap();
    #[cfg(unix)]
    for (name, mode) in [("open", 0o644), ("no-key", 0o600)] {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let right = "data = \"data\"\nowner_token_file = \"token\"\nlisten = \"127.0.0.1:0\"\n";
    let file = path("cloud.toml");
    let said = |arguments: &[&str]| {
        let done = program().args(arguments).arg(&file).stdin(Stdio::null()).output().unwrap();
        (done.status.success(), String::from_utf8(done.stderr).unwrap())
    };
    std::fs::write(&file, right).unwrap();
    assert!(said(&["config", "validate"]).0);
    assert!(!path("data").exists(), "a check makes nothing");
    let tls = "[tls]\ncertificate = \"none.pem\"\nkey = \"none.key\"\n".to_owned();
    for (wrong, reason) in [
        (right.replace("\"token\"", "\"none\""), "cannot read a token"),
        (right.replace("\"token\"", "\"open\""), "chmod 600"),
        (right.replace("\"data\"", "\"a-file\""), "cannot open"),
        (right.to_owned() + "signing_key_file = \"none\"\n", "no signing key in"),
        (right.to_owned() + "signing_key_file = \"no-key\"\n", "a signing key is 64 hexadecimal digits"),
        (right.to_owned() + "address_file = \"none/address\"\n", "cannot write the address"),
        (right.replace("127.0.0.1:0", "203.0.113.7:7410") + "allow_plain_http = true\n", "cannot listen on"),
        (right.to_owned() + &tls, "cannot read certificates from"),
    ] {
        std::fs::write(&file, &wrong).unwrap();
        let (right, validated) = said(&["config", "validate"]);
        assert!(!right && validated.contains(reason), "{wrong}: {validated}");
        let (right, started) = said(&["run", "--exit-with-stdin", "--config"]);
        assert!(!right && started.contains(reason), "{wrong}: {started}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    for arguments in [&["openapi"][..], &["openapi", "--markdown"], &["config", "print-default"], &["--help"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = program().args(arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert!(done.status.success() && done.stderr.is_empty(), "{arguments:?}: {done:?}");
    }
}

#[test]
fn what_it_gave_a_receipt_for_is_there_after_it_was_killed() {
    let (mut world, _, mut device) = World::with_device();
    let bodies: Vec<Vec<u8>> = (0..80).map(|sequence| device.envelope(sequence, &[1])).collect();
    world.stop();
    let mut child = run(world.folder()).stderr(Stdio::null()).spawn().unwrap();
    let url = format!("http://{}/v1/envelopes", address(world.folder()));
    let (tell, receipts) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for half in bodies.chunks(40) {
            let (tell, url) = (tell.clone(), &url);
            scope.spawn(move || {
                for body in half {
                    let key = name_of("", body);
                    let Some(answer) = try_send("POST", url, &[("idempotency-key", &key)], body) else {
                        break;
                    };
                    tell.send(answer.expect(201)["id"].as_str().unwrap().to_owned()).unwrap();
                }
            });
        }
        let confirmed: Vec<String> = (0..12).map(|_| receipts.recv().unwrap()).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        drop(tell);
        world.resume();
        let confirmed: Vec<String> = confirmed.into_iter().chain(receipts.iter()).collect();
        for id in &confirmed {
            assert_eq!(world.owner("GET", &format!("/v1/envelopes/{id}/body"), &[]).status, 200);
        }
        let (rows, files) = contents(&world.data()).envelopes();
        assert_eq!(rows, files as i64);
        assert!(rows >= confirmed.len() as i64);
    });
    // Sent again, each is stored once.
    for body in &bodies {
        assert!(matches!(world.upload(&blake3::hash(body).to_hex(), body).status, 200 | 201));
    }
    assert_eq!(contents(&world.data()).envelopes(), (80, 80));
}
