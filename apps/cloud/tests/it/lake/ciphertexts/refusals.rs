//! Missing, damaged and wrong files, keys and plans are named, and give no answer.

use std::fs;
use std::path::PathBuf;

use sotto_rlwe::{Bgv, Params};

use super::super::site::{Lake, program};
use super::{Plant, product, sum_of_two_keys};
use crate::device::Device;
use crate::jobs::{ADD, plan};

fn files(plant: &Plant, folder: &str) -> Vec<PathBuf> {
    let names = fs::read_dir(plant.world.data().join(folder)).unwrap();
    let mut files: Vec<PathBuf> = names.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn refused(lake: &Lake, sql: &str, reasons: &[&str]) {
    let error = lake.frames(sql).unwrap_err();
    assert!(reasons.iter().all(|reason| error.contains(reason)), "{sql}: {reasons:?}: {error}");
    assert!(!error.contains("panicked"), "{error}");
}

#[test]
fn plans_and_groups_that_do_not_fit_are_refused() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(3);
    let id = plant.world.put_plan(&product(&plant.params));
    let lake = plant.lake(&["--threads", "2"]);
    let of = |plan: &str| {
        format!(
            "select device, sotto_evaluate(ciphertext, number, '{plan}') from ciphertexts group by device"
        )
    };
    refused(&lake, &of(&id), &[&id, "takes 2 inputs", "has 3 ciphertexts", "number 0 of stream `load`"]);
    let unknown = "ab".repeat(32);
    refused(&lake, &of(&unknown), &["the store has no plan", &unknown]);
    for text in ["", "ab", "no plan", &"g".repeat(64)] {
        refused(&lake, &of(text), &["the name of a plan has 64 hexadecimal digits"]);
    }
    let pair = format!(
        "select device, sotto_evaluate(ciphertext, number, '{id}') from ciphertexts where number < 2 group by 1"
    );
    // The attic's key has no evaluation keys.
    refused(&lake, &pair, &["relinearisation key"]);
    refused(&plant.lake(&["--largest-job", "100000"]), &pair, &["100000 are granted"]);
    let two_keys = plant.world.put_plan(&plan(&plant.params, 2, &ADD));
    let mixed = format!(
        "select number, sotto_evaluate(ciphertext, number, '{two_keys}') from ciphertexts group by 1"
    );
    refused(&lake, &mixed, &["only ciphertexts under one key can be computed on together"]);
    for (sql, reason) in [
        (
            "select sotto_evaluate(ciphertext, number) from ciphertexts",
            "sotto_evaluate(ciphertext, number, 'PLAN')",
        ),
        (
            "select sotto_evaluate(number, number, 'a') from ciphertexts",
            "the first argument is the column ciphertext",
        ),
        ("select sotto_evaluate(ciphertext, 0.5, 'a') from ciphertexts", "ordered by a whole number"),
        ("select sotto_evaluate(ciphertext, number, 5) from ciphertexts", "names in quotes"),
        ("select sotto_evaluate(distinct ciphertext, number, 'a') from ciphertexts", "leave DISTINCT out"),
        ("select sotto_switch_sum() from ciphertexts", "sotto_switch_sum"),
        ("select sotto_switch_sum(ciphertext, 'x') from ciphertexts", "a key has 32 hexadecimal digits"),
    ] {
        refused(&lake, sql, &[reason]);
    }
}

#[test]
fn ciphertexts_of_other_parameters_are_refused() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(1);
    let bgv = Params::<Bgv>::default_chain(4096, 40_961).unwrap();
    let mut cellar = Device::new("cellar", &bgv, 3);
    plant.world.put_parameters(&bgv);
    plant.world.register(&cellar);
    plant.world.keep(&cellar.envelope(0, &[1]));
    let lake = plant.lake(&["--threads", "2"]);
    let id = plant.world.put_plan(&sum_of_two_keys(&plant.params, 0));
    let sql = format!(
        "select 'all', sotto_evaluate(ciphertext, number, '{id}') from ciphertexts where device <> 'attic'"
    );
    let (one, other) = (plant.params.id().to_string(), bgv.id().to_string());
    refused(
        &lake,
        &sql,
        &["ciphertext 0 of stream `load` of `cellar`", &format!("has parameters {other}"), &one],
    );
    let sum = "select 'all', sotto_switch_sum(ciphertext) from ciphertexts";
    refused(&lake, sum, &["group by parameters"]);
    let by = "select parameters, sotto_switch_sum(ciphertext) from ciphertexts group by 1";
    assert_eq!(lake.frames(by).unwrap().len(), 2);
}

#[test]
fn files_that_are_damaged_or_missing_are_named() {
    if program().is_none() {
        return;
    }
    let mut plant = Plant::new(2);
    let id = plant.world.put_plan(&product(&plant.params));
    plant.world.stop();
    let lake = plant.lake(&["--threads", "2"]);
    let evaluate = format!(
        "select device, sotto_evaluate(ciphertext, number, '{id}') from ciphertexts
         where device = 'kitchen' group by 1"
    );
    let sum = "select device, sotto_switch_sum(ciphertext) from ciphertexts group by 1";
    let expected = lake.frames(&evaluate).unwrap();
    assert_eq!(expected.len(), 1);
    let name = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
    let envelope = plant.world.data().join("envelopes").join(&plant.ids[0][1]);
    let [keys, plan] = ["keys", "plans"].map(|folder| {
        let mut all = files(&plant, folder);
        assert_eq!(all.len(), 1);
        all.remove(0)
    });
    for (file, sql, folder) in [
        (&envelope, evaluate.as_str(), "envelopes"),
        (&envelope, sum, "envelopes"),
        (&keys, evaluate.as_str(), "keys"),
        (&keys, sum, "keys"),
        (&plan, evaluate.as_str(), "plans"),
    ] {
        let (bytes, place) = (fs::read(file).unwrap(), format!("{folder}/{}", name(file)));
        for at in [0, 8, 20, 70, 90, bytes.len() / 2, bytes.len() - 40, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(file, &damaged).unwrap();
            refused(&lake, sql, &[&place, "sotto-cloud check"]);
        }
        for length in [0, 40, bytes.len() - 1] {
            fs::write(file, &bytes[..length]).unwrap();
            refused(&lake, sql, &[&place]);
        }
        fs::remove_file(file).unwrap();
        let missing = if folder == "plans" { &format!("the store has no plan {id}") } else { "is missing" };
        refused(&lake, sql, &[&name(file), missing]);
        fs::write(file, bytes).unwrap();
    }
    // Another envelope under the name of this one.
    let other = fs::read(plant.world.data().join("envelopes").join(&plant.ids[0][0])).unwrap();
    let own = fs::read(&envelope).unwrap();
    fs::write(&envelope, other).unwrap();
    refused(&lake, &evaluate, &[&plant.ids[0][1], "is not the envelope that was stored"]);
    fs::write(&envelope, own).unwrap();
    assert_eq!(lake.frames(&evaluate).unwrap(), expected);
}
