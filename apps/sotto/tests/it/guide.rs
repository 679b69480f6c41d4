//! Runs the guide "From TenSEAL to sotto": its Python in the environment of the lab's engine `seal`, its commands with
//! this program. `sotto-seal`'s documentation tests compile its Rust; the same steps run here.

use std::path::Path;
use std::process::Command;

use sotto_decrypt::Decryptor;
use sotto_keys::SecretKey;
use sotto_rlwe::{Ckks, Evaluator, Expected, Origin, Params};
use sotto_wire::{AnyCiphertext, EvaluationKeyCounts};

const GUIDE: &str = include_str!("../../../../docs/guides/from-tenseal.md");
const PASSPHRASE: &str = "a long passphrase";

/// Returns the code blocks of the guide in order: language and text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let pieces = GUIDE.split("```").skip(1).step_by(2);
    pieces.filter_map(|piece| piece.split_once('\n')).collect()
}

fn run(folder: &Path, program: &Path, argument: &str, text: &str) -> String {
    let ours = Path::new(env!("CARGO_BIN_EXE_sotto")).parent().unwrap();
    let path = format!("{}:{}", ours.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new(program)
        .args([argument, text])
        .current_dir(folder)
        .env("PATH", path)
        .env("SOTTO_PASSPHRASE", PASSPHRASE)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{text}\n{said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs step 4 of the guide.
fn squares(folder: &Path) -> Vec<f64> {
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let spec = sotto_wire::read_parameters(&read("parameters.sotto")).unwrap();
    let params = Params::<Ckks>::with_security(spec, sotto_seal::SealParameters::security()).unwrap();
    let most = EvaluationKeyCounts { relinearisation: true, galois: 0, transfers: 0 };
    let keys = sotto_wire::read_evaluation_keys(&read("evaluation.sotto"), &params, most).unwrap();
    let key = SecretKey::read_imported(&folder.join("secret.key"), &params, PASSPHRASE).unwrap();
    let shape = sotto_seal::fresh_shape(&params, Origin::PublicKey, 100.0).unwrap();
    let expected = Expected { parameters: params.id(), key: key.id(), shape, reduction: None };
    let readings = AnyCiphertext::read(&read("readings.sotto"), &params).unwrap().expect(&expected).unwrap();
    let evaluator = Evaluator::new(&params);
    let squares = evaluator.relinearise(&evaluator.square(&readings).unwrap(), &keys).unwrap();
    let squares = evaluator.drop_modulus(&squares).unwrap();
    Decryptor::new(&key).slots(&squares).unwrap().publish(8).unwrap()
}

#[test]
#[cfg(unix)]
fn the_guide_from_tenseal_runs() {
    let installed = match sotto_harness::SEAL.installed() {
        Ok(installed) => installed,
        Err(error) if std::env::var_os("SOTTO_SEAL").is_some() => panic!("{error}"),
        Err(error) => {
            println!("skipped: {error}");
            return;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut said = Vec::new();
    for (language, text) in blocks() {
        match language {
            "python" => said.push(run(folder, &installed.program, "-c", text)),
            "sh" => said.push(run(folder, Path::new("/bin/sh"), "-c", &format!("set -e\n{text}"))),
            _ => assert_eq!(language, "rust,no_run"),
        }
    }
    assert!(said.iter().any(|text| text.contains("level") && text.contains("CKKS")), "inspected: {said:?}");
    assert_eq!(said.last().map(String::as_str), Some("[20.5, 21.0, 19.25]\n"));
    let expected = [20.5f64, 21.0, 19.25].map(|x| x * x);
    for (found, expected) in squares(folder).iter().zip(expected) {
        assert!((found - expected).abs() < 0.01, "{found}, expected {expected}");
    }
    let (sotto, no) = (Path::new(env!("CARGO_BIN_EXE_sotto")), "secret key without the flag");
    let refused = Command::new(sotto)
        .args(["seal", "convert", "secret-key.seal", "x", "--parameters", "parameters.sotto"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(!refused.status.success(), "{no}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--unprotected-secret-key"), "{no}");
}
