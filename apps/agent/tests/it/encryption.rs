//! From readings to an envelope, through the upload, and back by decryption, for the three schemes.

use crate::site;

use std::process::Output;

use serde_json::Value;
use site::{Act, Cloud, Site, Upload, sensed};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceKeys, SecretKey};
use sotto_pack::{Channel, Slots, WindowDescription, unpack};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, Params, Scheme};
use sotto_wire::{AnyCiphertext, Envelope, LARGEST_ENVELOPE};

const CSV: &str = "time,temp\n0,20.5\n1,\n2,-3.25\n3,oops\n4,31\n5,18.125\n6,7\n7,8\n8,9.5\n9,10\n";

/// A decrypted window: the values of each channel, and their maximum error.
struct Received {
    stream: String,
    description: WindowDescription,
    values: Vec<Vec<f64>>,
    errors: Vec<f64>,
    seeded: bool,
}

fn receive<S: Scheme>(
    site: &Site,
    envelope: &Envelope,
    slots: impl FnOnce(&Decryptor<'_, S>, &Ciphertext<S>) -> (Slots, f64),
) -> Received {
    let description = WindowDescription::parse(&envelope.header().layout).unwrap();
    assert_eq!(u64::from(envelope.header().readings), description.readings());
    let params: Params<S> = site::params();
    let ciphertext = AnyCiphertext::read(&envelope.body().frame(), &params).unwrap().with_claimed_shape();
    let seeded = matches!(ciphertext, AnyCiphertext::Seeded(_));
    let key = SecretKey::derive(&site.secret, &params);
    assert_eq!(envelope.header().key, key.id());
    let (slots, noise) = slots(&Decryptor::new(&key), &ciphertext.expand());
    let layout = &description.layout;
    let error = |channel| match (layout.quantiser(channel), layout.normaliser(channel)) {
        (Some(quantiser), _) => quantiser.value_error(),
        (_, normaliser) => normaliser.unwrap().value_error(noise),
    };
    let errors = (0..layout.channels().len() as u16).map(error).collect();
    let (stream, values) = (envelope.header().stream.clone(), unpack(layout, &slots).unwrap());
    Received { stream, values, errors, description, seeded }
}

fn receive_all(site: &Site, uploads: &[Upload]) -> Vec<Received> {
    let integers = |slots| (Slots::Integers(slots), 0.0);
    let receive = |upload: &Upload| {
        let envelope = Envelope::read(&upload.body, LARGEST_ENVELOPE).unwrap();
        envelope.verify(&site.identity.verifying_key()).unwrap();
        match envelope.header().stream.as_str() {
            "bfv" => receive::<Bfv>(site, &envelope, |d, c| integers(d.slots(c).unwrap().into_residues())),
            "bgv" => receive::<Bgv>(site, &envelope, |d, c| integers(d.slots(c).unwrap().into_residues())),
            _ => receive::<Ckks>(site, &envelope, |d, c| {
                let reals = d.slots(c).unwrap();
                (Slots::Reals(reals.raw_values_for_owner_only().to_vec()), reals.error_bound())
            }),
        }
    };
    uploads.iter().map(receive).collect()
}

/// Compares the decrypted values of a window with the clear log.
fn compare(site: &Site, received: &Received) {
    let (stream, window) = (&received.stream, &received.description);
    let log = &site.json("clear.json")[stream];
    let layout = &window.layout;
    assert_eq!(log["channels"], serde_json::to_value(layout.channels()).unwrap());
    let at = |tick: u32| window.period.at(window.start, tick);
    let times = log["times"].as_array().unwrap();
    let first = times.iter().position(|time| time.as_i64() == Some(at(0))).unwrap();
    let ticks = window.ticks() as usize;
    assert!(ticks <= layout.ticks() as usize && times[first + ticks - 1] == at(window.ticks() - 1));
    let rows = &log["values"].as_array().unwrap()[first..first + ticks];
    for (channel, values) in received.values.iter().enumerate() {
        let clear = |tick: usize| rows.get(tick).and_then(|row| row[channel].as_f64());
        let present = (0..ticks).filter(|tick| clear(*tick).is_some()).count();
        assert_eq!(window.present[channel] as usize, present);
        let centre = layout.channels()[channel].minimum / 2.0 + layout.channels()[channel].maximum / 2.0;
        for (tick, value) in values.iter().enumerate() {
            let expected = clear(tick).unwrap_or(centre);
            let off = (value - expected).abs();
            assert!(off <= received.errors[channel], "{stream} {channel} {tick}: {value} {expected}");
        }
    }
}

fn check(site: &Site, cloud: &Cloud, output: &Output) -> Vec<Received> {
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    let (first, said) = said.split_once('\n').unwrap();
    assert!(first.contains("no key of the cloud is pinned"), "{first}");
    assert!(said.starts_with("device-1: ") && said.lines().count() == 1, "nothing else to say: {said}");
    let received = receive_all(site, &cloud.uploads());
    received.iter().for_each(|received| compare(site, received));
    received
}

#[test]
fn generated_readings_come_back_under_the_secret_key() {
    let (site, cloud) = (Site::new(100, 10), Cloud::start(&[Act::Store]));
    let output = site.run(&cloud.url()).args(["--source", "generate", "--seed", "9", "--once"]).output();
    let received = check(&site, &cloud, &output.unwrap());
    let streams: Vec<&str> = received.iter().map(|received| received.stream.as_str()).collect();
    assert_eq!(streams, ["bfv", "bgv", "ckks"]);
    assert!(received.iter().all(|received| received.seeded && received.description.generated));
    assert!(received.iter().all(|received| received.description.present == [100, 100, 100]));
    let sizes: Vec<usize> = cloud.uploads().iter().map(|upload| upload.body.len()).collect();
    assert!(sizes.iter().all(|bytes| *bytes < 38_500), "{sizes:?}");
}

#[test]
fn a_series_with_gaps_comes_back_under_the_secret_key() {
    a_series_with_gaps_comes_back(false);
}

#[test]
fn a_series_with_gaps_comes_back_under_public_keys() {
    a_series_with_gaps_comes_back(true);
}

fn a_series_with_gaps_comes_back(public: bool) {
    let temp = Channel { name: "temp".into(), minimum: -3.25, maximum: 31.0, ..Channel::default() };
    let (site, cloud) = (Site::with(4, 1000, &[temp]), Cloud::start(&[Act::Store]));
    std::fs::write(site.path("series.csv"), CSV).unwrap();
    site.write("public.bundle", DeviceKeys::Public(site.public_keys().to_vec()), site.public_profile());
    let mut command = site.run_with(if public { "public.bundle" } else { "device.bundle" }, &cloud.url());
    command.arg("--csv").arg(site.path("series.csv")).args(["--start", "2026-03-01T06:00:00Z"]);
    let received = check(&site, &cloud, &command.output().unwrap());
    assert!(received.iter().all(|received| received.seeded != public));
    // Windows of 4, 4 and the remaining 2 rows.
    for stream in ["bfv", "bgv", "ckks"] {
        let of_stream = received.iter().filter(|received| received.stream == stream);
        let present: Vec<&[u32]> =
            of_stream.map(|received| received.description.present.as_slice()).collect();
        assert_eq!(present, [[2], [4], [2]], "{stream}");
    }
    let range = &received[0].description.layout.channels()[0];
    assert_eq!((range.minimum, range.maximum), (-3.25, 31.0));
    let report = site.json("report.json");
    // Each stream leaves out two cells.
    assert_eq!((&report["missing"], &report["source"]), (&Value::from(6), &Value::from("csv")));
    assert_eq!(report["channels"][0]["name"], "temp");
}

#[test]
fn real_readings_of_this_machine_come_back() {
    let Some(sensors) = sensed() else { return };
    let (site, cloud) = (Site::with(3, 50, &sensors), Cloud::start(&[Act::Store]));
    let output = site.run(&cloud.url()).arg("--once").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(site.json("report.json")["source"], "sensors");
    let received = receive_all(&site, &cloud.uploads());
    assert_eq!(received.len(), 3);
    received.iter().for_each(|received| compare(&site, received));
}
