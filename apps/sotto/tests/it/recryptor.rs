//! The owner's commands against a recryptor in this process: its key file, and expressions that ask it.

use std::path::Path;
use std::process::{Command, Output};

use sotto_recryptor::config::{Config, Settings};
use sotto_recryptor::server::Server;

const TOKEN: &str = "the-owner-of-this-test";

fn sotto(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sotto"));
    command.args(arguments).env("SOTTO_PASSPHRASE", "correct horse").output().unwrap()
}

fn done(arguments: &[&str]) -> String {
    let output = sotto(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str], reason: &str) {
    let output = sotto(arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains(reason), "{text}");
    assert!(!text.contains(TOKEN));
}

/// Starts a recryptor that serves until this process ends. Returns its address.
fn serve(folder: &Path) -> String {
    let path = |name: &str| folder.join(name);
    std::fs::write(path("token"), TOKEN).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path("token"), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let caller = "[[caller]]\nname = \"owner\"\ntoken_file = \"token\"\nnumbers_a_day = 100\n";
    std::fs::write(path("callers.toml"), caller).unwrap();
    let settings = Settings {
        listen: Some("127.0.0.1:0".parse().unwrap()),
        data: Some(path("data")),
        key_file: Some(path("recryptor.key")),
        callers_file: Some(path("callers.toml")),
        ..Settings::default()
    };
    let config = Config::new(settings).unwrap();
    let (tell, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let server = Server::open(&config).await.unwrap();
            tell.send(server.address()).unwrap();
            server.serve(std::future::pending()).await.unwrap();
        });
    });
    format!("http://{}", address.recv().unwrap())
}

#[test]
fn an_expression_is_computed_with_a_recryptor() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (owner, other, agent, token) =
        (file("owner.key"), file("other.key"), file("recryptor.key"), file("token"));
    done(&["keys", "new", &owner]);
    done(&["keys", "new", &other]);
    done(&["keys", "recryptor", &owner, &agent, "--bits", "2048", "--group", "ffdhe2048"]);
    refused(&["keys", "recryptor", &owner, &agent], "cannot be used");
    let url = serve(folder.path());
    let eval = |expression: &'static str, scheme: &'static str| {
        ["eval", expression, "--scheme", scheme, "--json", "--recryptor", &url, "--recryptor-token", &token]
            .map(str::to_owned)
            .to_vec()
    };
    let with = |mut arguments: Vec<String>, key: &str, run: &dyn Fn(&[&str])| {
        arguments.extend(["--owner-key".to_owned(), key.to_owned()]);
        run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    };
    for (expression, scheme, answer) in
        [("(2+3)*(4-6)", "paillier-blinded", -10.0), ("3*4+3", "paillier+elgamal", 15.0)]
    {
        with(eval(expression, scheme), &owner, &|arguments| {
            let report: serde_json::Value = serde_json::from_str(&done(arguments)).unwrap();
            assert_eq!(report["result"].as_f64(), Some(answer), "{report}");
        });
    }
    with(eval("3*4", "paillier-blinded"), &other, &|arguments| {
        refused(arguments, "are not those of the device");
    });
    let elsewhere = eval("3*4", "paillier-blinded").into_iter();
    let elsewhere = elsewhere.map(|word| word.replace("http://127.0.0.1", "http://192.0.2.1")).collect();
    with(elsewhere, &owner, &|arguments| refused(arguments, "plain HTTP"));
    with(eval("3*4", "bfv"), &owner, &|arguments| refused(arguments, "does not use a recryptor"));
    std::fs::write(&token, "somebody-elses-token").unwrap();
    with(eval("3*4", "paillier-blinded"), &owner, &|arguments| refused(arguments, "401"));
}
