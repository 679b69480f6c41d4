//! From readings to an envelope, through the upload, and back by decryption, for the three schemes.

use crate::site;

use std::process::Output;

use serde_json::Value;
use site::{Act, Cloud, Site, Upload};
use sotto_decrypt::Decryptor;
use sotto_keys::SecretKey;
use sotto_pack::{Slots, WindowDescription, unpack};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, Params, Scheme};
use sotto_wire::{AnyCiphertext, Envelope, LARGEST_ENVELOPE};

const CSV: &str = "time,temp\n0,20.5\n1,\n2,-3.25\n3,oops\n4,31\n5,18.125\n6,7\n7,8\n8,9.5\n9,10\n";

/// A stream's first window, decrypted: the values of each channel, and their maximum error.
struct Received {
    description: WindowDescription,
    values: Vec<Vec<f64>>,
    errors: Vec<f64>,
    seeded: bool,
}

fn receive<S: Scheme>(
    site: &Site,
    upload: &Upload,
    slots: impl FnOnce(&Decryptor<'_, S>, &Ciphertext<S>) -> (Slots, f64),
) -> Received {
    let envelope = Envelope::read(&upload.body, LARGEST_ENVELOPE).unwrap();
    envelope.verify(&site.identity.verifying_key()).unwrap();
    let description = WindowDescription::parse(&envelope.header.layout).unwrap();
    assert_eq!(u64::from(envelope.header.readings), description.readings());
    let params: Params<S> = site::params();
    let ciphertext = AnyCiphertext::read(&envelope.body, &params).unwrap().with_claimed_shape();
    let seeded = matches!(ciphertext, AnyCiphertext::Seeded(_));
    let key = SecretKey::derive(&site.secret, &params);
    assert_eq!(envelope.header.key, key.id());
    let (slots, noise) = slots(&Decryptor::new(&key), &ciphertext.expand());
    let layout = &description.layout;
    let error = |channel| match (layout.quantiser(channel), layout.normaliser(channel)) {
        (Some(quantiser), _) => quantiser.value_error(),
        (_, normaliser) => normaliser.unwrap().value_error(noise),
    };
    let errors = (0..layout.channels().len() as u16).map(error).collect();
    Received { values: unpack(layout, &slots).unwrap(), errors, description, seeded }
}

fn receive_all(site: &Site, uploads: &[Upload]) -> [Received; 3] {
    let integers = |slots| (Slots::Integers(slots), 0.0);
    [
        receive::<Bfv>(site, &uploads[0], |d, c| integers(d.slots(c).unwrap().into_residues())),
        receive::<Bgv>(site, &uploads[1], |d, c| integers(d.slots(c).unwrap().into_residues())),
        receive::<Ckks>(site, &uploads[2], |d, c| {
            let reals = d.slots(c).unwrap();
            (Slots::Reals(reals.raw_values_for_owner_only().to_vec()), reals.error_bound())
        }),
    ]
}

/// Compares the decrypted values with the clear log.
fn compare(site: &Site, received: &Received, stream: &str) {
    let log = &site.json("clear.json")[stream];
    let layout = &received.description.layout;
    assert_eq!(log["channels"], serde_json::to_value(layout.channels()).unwrap());
    let rows = log["values"].as_array().unwrap();
    assert!(rows.len() <= layout.ticks() as usize);
    for (channel, values) in received.values.iter().enumerate() {
        let clear = |tick: usize| rows.get(tick).and_then(|row| row[channel].as_f64());
        let present = (0..rows.len()).filter(|tick| clear(*tick).is_some()).count();
        assert_eq!(received.description.present[channel] as usize, present);
        let centre = layout.channels()[channel].minimum / 2.0 + layout.channels()[channel].maximum / 2.0;
        for (tick, value) in values.iter().enumerate() {
            let expected = clear(tick).unwrap_or(centre);
            let off = (value - expected).abs();
            assert!(off <= received.errors[channel], "{stream} {channel} {tick}: {value} {expected}");
        }
    }
}

fn check(site: &Site, cloud: &Cloud, output: &Output) -> [Received; 3] {
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nothing to say");
    let received = receive_all(site, &cloud.uploads());
    for (received, stream) in received.iter().zip(["bfv", "bgv", "ckks"]) {
        compare(site, received, stream);
    }
    received
}

#[test]
fn generated_readings_come_back_under_the_secret_key() {
    let (site, cloud) = (Site::new(100, 10), Cloud::start(&[Act::Store]));
    let output = site.run(&cloud.url()).args(["--source", "generate", "--seed", "9", "--once"]).output();
    let received = check(&site, &cloud, &output.unwrap());
    assert!(received.iter().all(|received| received.seeded));
    assert!(received.iter().all(|received| received.description.present == [100, 100, 100]));
    let sizes: Vec<usize> = cloud.uploads().iter().map(|upload| upload.body.len()).collect();
    assert!(sizes.iter().all(|bytes| *bytes < 38_500), "{sizes:?}");
}

#[test]
fn a_series_with_gaps_comes_back_under_public_keys() {
    let (site, cloud) = (Site::new(4, 1000), Cloud::start(&[Act::Store]));
    std::fs::write(site.path("series.csv"), CSV).unwrap();
    let mut command = site.run_with_public_keys(&cloud.url());
    command.arg("--once").arg("--csv").arg(site.path("series.csv")).args(["--column", "temp"]);
    let received = check(&site, &cloud, &command.output().unwrap());
    assert!(received.iter().all(|received| !received.seeded));
    // Windows of 4, 4 and the remaining 2 rows.
    let present: Vec<&[u32]> =
        received.iter().map(|received| received.description.present.as_slice()).collect();
    assert_eq!(present, [[2], [4], [2]]);
    let range = &received[0].description.layout.channels()[0];
    assert_eq!((range.minimum, range.maximum), (-3.25, 31.0));
    let report = site.json("report.json");
    assert_eq!((&report["missing"], &report["source"]), (&Value::from(2), &Value::from("csv")));
    assert_eq!(report["channels"][0]["name"], "temp");
}

#[test]
fn real_readings_of_this_machine_come_back() {
    let (site, cloud) = (Site::new(3, 50), Cloud::start(&[Act::Store]));
    let output = site.run(&cloud.url()).arg("--once").output().unwrap();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("--source generate") && cloud.uploads().is_empty(), "{said}");
        eprintln!("no sensors here: {said}");
        return;
    }
    assert_eq!(site.json("report.json")["source"], "sensors");
    for (received, stream) in receive_all(&site, &cloud.uploads()).iter().zip(["bfv", "bgv", "ckks"]) {
        compare(&site, received, stream);
    }
}
