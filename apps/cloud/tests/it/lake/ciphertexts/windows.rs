//! The rows of the table: windows that count now, of both versions of the envelope.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_decrypt::Decryptor;
use sotto_pack::Replaces;
use sotto_rlwe::Kept;
use sotto_wire::{Envelope, MaskName, SlotsWindow, mask_seed};

use super::super::site::{Lake, program};
use super::{Plant, job, product, read};
use crate::jobs::{ADD, plan};
use crate::windows::{HOUR, Site};

#[test]
fn columns_are_those_of_the_envelopes() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(3);
    let lake = plant.lake(&["--threads", "2"]);
    let lines = lake
        .lines(
            "select tenant, device, stream, number, start, first, last, readings, parameters, key, bytes
             from ciphertexts where device = 'attic' and number >= 1 order by number",
        )
        .unwrap();
    let (parameters, key) = (plant.params.id(), plant.attic.secret.id());
    for (number, line) in (1..).zip(&lines) {
        let file = plant.world.data().join("envelopes").join(&plant.ids[1][number]);
        let bytes = std::fs::metadata(file).unwrap().len();
        let time = |second| format!("1970-01-01T00:00:0{second}Z");
        let (start, end) = (time(1), time(2));
        assert_eq!(
            *line,
            format!("0,attic,load,{number},{start},{start},{end},3,{parameters},{key},{bytes}")
        );
    }
    assert_eq!(lines.len(), 2);
    for (condition, rows) in [
        ("true", 6),
        ("tenant = 1", 0),
        ("device in ('attic', 'cellar')", 3),
        ("stream = 'other'", 0),
        ("start >= '1970-01-01T00:00:01Z' and start < '1970-01-01T00:00:02Z'", 6),
        ("start > '1970-01-01T00:00:01Z'", 0),
        ("number between 1 and 2 and device <> 'attic'", 2),
        ("readings > 3", 0),
    ] {
        let count = lake.number(&format!("select count(*) from ciphertexts where {condition}"));
        assert_eq!(count, rows, "{condition}");
    }
    // The plan says how many ciphertexts are left after pruning.
    let explained =
        lake.run("explain select number from ciphertexts where device = 'attic' and number > 0", &[]);
    let explained = String::from_utf8(explained.stdout).unwrap();
    assert!(explained.contains("ciphertexts=2"), "{explained}");
    assert_eq!(lake.number("select count(*) from windows"), 0, "no windows of sums");
    // The owner deletes the attic's.
    plant.world.forget("attic", None, 10_000);
    assert_eq!(lake.number("select count(*) from ciphertexts"), 3);
}

/// Uploads a window; returns its id.
fn keep(site: &Site, number: u64, window: &[u8]) -> String {
    let receipt = site.world.upload_as(&format!("kitchen.load.{number}"), window).expect(201);
    receipt["id"].as_str().unwrap().to_owned()
}

/// Returns a window of slots that comes in the place of others.
fn replace(site: &mut Site, number: u64, windows: Vec<u64>, values: &[i64]) -> Vec<u8> {
    let (secret, mask) = (&site.device.secret, MaskName { salt: [3; 12], sequence: number });
    let plain = secret.params().encode_folded(values, 1.0, secret.params().top_level()).unwrap();
    let seed = mask_seed(secret.id(), "load", &mask);
    let encrypted = secret.encrypt_under(&plain, seed, &mut ChaCha20Rng::from_seed([9; 32])).unwrap();
    let frame = SlotsWindow::of(&encrypted.compact(Kept::Folded(values.len())).unwrap(), mask).write();
    let mut description = site.description(windows[0]);
    description.replaces = Some(Replaces { windows, channels: vec![0] });
    let sign = |message: &[u8]| site.device.identity.sign(message);
    let header = Arc::clone(&site.header);
    Envelope::sign_window(&header, number, description, &frame, sign).unwrap().write()
}

#[test]
fn windows_of_slots_count_unless_another_one_comes_in_their_place() {
    if program().is_none() {
        return;
    }
    let mut site = Site::registered();
    let steps = site.device.secret.params().expansion_steps(Kept::Folded(8)).unwrap();
    let keys = site.device.evaluation_keys(false, &steps);
    site.world.put_keys(&keys);
    let mut ids: Vec<String> = (0..3)
        .map(|number| {
            let window = site.window(number, &[number as i64 + 1, 5]);
            keep(&site, number, &window)
        })
        .collect();
    let window = replace(&mut site, 3, vec![1], &[40, 50, 0, 0, 0, 0, 0, 0]);
    ids.push(keep(&site, 3, &window));
    let lake = Lake::over(&site.world.data(), &["--threads", "2"]);
    let numbers = lake.lines("select number from ciphertexts order by number").unwrap();
    assert_eq!(numbers, ["0", "2", "3"], "1 is replaced");
    // Its start is that of its first tick; a window is replaced by one with another start or number as well.
    let starts = lake.lines("select number from ciphertexts where start = '1970-01-01T01:00:00Z'").unwrap();
    assert_eq!((starts, HOUR), (vec!["3".to_owned()], 3_600_000));
    assert_eq!(lake.number("select count(*) from ciphertexts where number = 1"), 0);

    let id = site.world.put_plan(&plan(site.device.secret.params(), 2, &ADD));
    let sql = format!(
        "select 'all', sotto_evaluate(ciphertext, number, '{id}') from ciphertexts where number >= 2"
    );
    let found = &lake.frames(&sql).unwrap()["all"];
    assert_eq!(*found, job(&site.world, &id, &[&ids[2], &ids[3]], None));
    let decryptor = Decryptor::new(&site.device.secret);
    let sum = read(site.device.secret.params(), found);
    let slots = decryptor.slots(&sum).unwrap().into_residues();
    assert_eq!(slots[..3], [43, 55, 0]);
}

#[test]
fn a_backup_gives_the_bytes_of_its_store() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(2);
    let id = plant.world.put_plan(&product(&plant.params));
    let place = plant.backed_up();
    let sql = format!(
        "select device, sotto_evaluate(ciphertext, number, '{id}') from ciphertexts
         where device = 'kitchen' group by 1"
    );
    let expected = plant.lake(&["--threads", "1"]).frames(&sql).unwrap();
    assert_eq!(Lake::over(&place, &["--threads", "1"]).frames(&sql).unwrap(), expected);
}
