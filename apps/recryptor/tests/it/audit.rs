//! The program: start, refusals, and audit.

use sotto_keys::Protection;
use sotto_partial::recrypt::{Recrypt as _, Request};

use crate::world::{KEYS, TOKEN, World, program};

#[test]
fn the_audit_shows_counts_while_it_runs_and_after() {
    let world = World::start();
    world.client(TOKEN).exchange(&vec![Request::Product(KEYS.encrypt(3), KEYS.encrypt(4)); 3]).unwrap();
    let table = String::from_utf8(world.audit(&[]).stdout).unwrap();
    let row = table.lines().find(|line| line.contains("charged")).unwrap();
    let fields: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(fields[1..], ["cloud", "charged", "1", "3", "0", "0", "6"], "{table}");
    world.stop();
    assert!(world.log().contains("stopped"));
    assert_eq!(world.counted("cloud", "charged"), [1, 3, 0, 0, 6]);
}

#[test]
fn it_does_not_start_with_what_it_should_not() {
    let world = World::start();
    let refused = |change: &dyn Fn(&mut std::process::Command), reason: &str| {
        let mut command = world.command();
        change(&mut command);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(reason), "{text}");
        assert!(!text.contains(TOKEN));
    };
    let folder = world.folder();
    refused(&|_| {}, "another process has this folder open");
    world.stop();
    refused(
        &|command| {
            command.args(["--largest-batch", "0"]);
        },
        "largest_batch",
    );
    // One byte less than 256 products at 2,048 bits take: 104 + 256·(1 + 2·512).
    refused(
        &|command| {
            command.args(["--largest-batch", "262503"]);
        },
        "up to 262504 bytes",
    );
    refused(
        &|command| {
            command.env("SOTTO_RECRYPTOR_CONFIG", folder.join("nothing"));
        },
        "nothing",
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let key = folder.join("recryptor.key");
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o640)).unwrap();
        refused(&|_| {}, "can be read by others");
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    std::fs::write(folder.join("callers.toml"), "").unwrap();
    refused(&|_| {}, "there are 0 callers");
    std::fs::remove_file(folder.join("recryptor.key")).unwrap();
    refused(&|_| {}, "recryptor.key");
}

#[test]
fn it_prints_a_configuration_that_it_takes() {
    let world = World::start();
    world.stop();
    let printed = program().args(["config", "print-default"]).output().unwrap();
    assert!(printed.status.success());
    let file = world.folder().join("recryptor.toml");
    std::fs::write(&file, &printed.stdout).unwrap();
    world.resume_with(|command| {
        command.arg("--config").arg(&file);
    });
    assert_eq!(world.ask(None, "/healthz").status, 200);
}

#[test]
fn a_key_file_under_a_passphrase_wants_it() {
    let world = World::start();
    world.stop();
    let key = world.folder().join("recryptor.key");
    std::fs::remove_file(&key).unwrap();
    let mut rng = sotto_ring::secure_rng().unwrap();
    KEYS.secret.write(&key, &Protection::Passphrase("correct horse"), &mut rng).unwrap();
    for (passphrase, reason) in [(None, "needs its passphrase"), (Some("wrong one"), "does not open")] {
        let variable = passphrase.map(|words| ("SOTTO_PASSPHRASE", words));
        let output = world.command().envs(variable).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(reason), "{text}");
        assert!(!text.contains("wrong one"));
    }
    world.resume_with(|command| {
        command.env("SOTTO_PASSPHRASE", "correct horse");
    });
    assert_eq!(world.client(TOKEN).paillier_key().id(), KEYS.paillier.id());
}

#[test]
fn a_configuration_is_checked_as_a_start_checks_it() {
    let world = World::start();
    let path = |name: &str| world.folder().join(name);
    let of = |key: &str, callers: &str, data: &str| {
        let name = |name: &str| path(name).display().to_string();
        let (key, callers, data) = (name(key), name(callers), name(data));
        format!(
            "key_file = \"{key}\"\ncallers_file = \"{callers}\"\ndata = \"{data}\"\nlisten = \"127.0.0.1:0\"\n"
        )
    };
    let file = path("recryptor.toml");
    let checked = |text: String| {
        std::fs::write(&file, text).unwrap();
        let done = program().args(["config", "validate"]).arg(&file).output().unwrap();
        (done.status.success(), String::from_utf8(done.stderr).unwrap())
    };
    // Also while it runs.
    let (right, error) = checked(of("recryptor.key", "callers.toml", "data"));
    assert!(right, "{error}");
    for (text, reason) in [
        (of("none", "callers.toml", "data"), "none"),
        (of("cloud.token", "callers.toml", "data"), "cloud.token"),
        (of("recryptor.key", "none", "data"), "none"),
        (of("recryptor.key", "callers.toml", "callers.toml"), "cannot open"),
        (of("recryptor.key", "callers.toml", "data") + "largest_batch = 10\n", "largest_batch is 10"),
    ] {
        let (right, error) = checked(text.clone());
        assert!(!right && error.contains(reason), "{text}: {error}");
    }
}
