//! Uploads to a cloud that fails, refuses, or answers.

use crate::site;

use serde_json::Value;
use site::{Act, Cloud, Site, files};
use sotto_wire::frame_digest;

fn once(site: &Site, cloud: &Cloud) -> std::process::Output {
    site.run(&cloud.url()).args(["--source", "generate", "--once"]).output().unwrap()
}

#[test]
fn a_cloud_that_fails_first_gets_every_message_once_it_answers() {
    let (site, cloud) = (
        Site::new(8, 10),
        Cloud::start(&[Act::Drop, Act::Status(503), Act::Status(429), Act::OtherReceipt, Act::Store]),
    );
    let output = once(&site, &cloud);
    assert!(output.status.success(), "{output:?}");
    let uploads = cloud.uploads();
    let keys: Vec<&str> = uploads.iter().map(|upload| upload.key.as_str()).collect();
    assert_eq!(keys[..5], ["device-1.bfv.0"; 5], "the oldest first, until the cloud has it");
    assert_eq!(keys[5..], ["device-1.bgv.0", "device-1.ckks.0"]);
    assert!(uploads[..5].iter().all(|upload| upload.body == uploads[0].body));
    assert!(files(&site.spool(), ".envelope").is_empty());

    let report = site.json("report.json");
    assert_eq!(report["source"], "generator");
    assert_eq!((&report["refused"], &report["waiting"]), (&Value::from(0), &Value::from(0)));
    for (stream, upload) in report["streams"].as_array().unwrap().iter().zip([4, 5, 6]) {
        assert_eq!(stream["upload_bytes"], uploads[upload].body.len());
        assert_eq!(stream["envelope_id"], format!("envelope of {}", uploads[upload].key));
        assert_eq!((&stream["sequence"], &stream["readings"]), (&Value::from(0), &Value::from(24)));
    }
    for phase in ["pack", "encode", "encrypt", "spool", "upload"] {
        let times = report["phases"][phase].as_array().unwrap();
        assert_eq!(times.len(), 3, "{phase}");
        assert!(times.iter().all(|time| time.as_f64().unwrap() > 0.0), "{phase}");
    }
}

#[test]
fn a_message_that_the_cloud_has_already_is_delivered() {
    let (site, cloud) = (Site::new(8, 10), Cloud::start(&[Act::Duplicate]));
    assert!(once(&site, &cloud).status.success());
    assert!(once(&site, &cloud).status.success());
    let sequences: Vec<String> = cloud.uploads().into_iter().map(|upload| upload.key).collect();
    assert_eq!(sequences[3..], ["device-1.bfv.1", "device-1.bgv.1", "device-1.ckks.1"]);
}

#[test]
fn a_refused_message_is_put_aside_with_the_reason() {
    let (site, cloud) = (Site::new(8, 10), Cloud::start(&[Act::Store, Act::Refuse(422), Act::Store]));
    let output = once(&site, &cloud);
    assert!(!output.status.success());
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("status 422") && complaint.contains("refused 1 message:"), "{complaint}");

    let refused = site.spool().join("refused");
    let name = "00000000000000000001.bgv.0.envelope";
    assert_eq!(files(&refused, ".envelope"), [name]);
    let message = std::fs::read(refused.join(name)).unwrap();
    assert_eq!(frame_digest(&message), frame_digest(&cloud.uploads()[1].body));
    let problem = site.json(&format!("spool/refused/{name}.problem.json"));
    assert_eq!((&problem["status"], &problem["problem"]["title"]), (&422.into(), &"status 422".into()));

    let report = site.json("report.json");
    assert_eq!((&report["refused"], &report["waiting"]), (&Value::from(1), &Value::from(0)));
    assert_eq!(report["refusals"][0]["problem"]["title"], "status 422");
    assert_eq!(report["streams"][1]["envelope_id"], Value::Null);
    assert_eq!(cloud.uploads().len(), 3, "the others are sent");
}

#[test]
fn a_message_with_a_tick_that_another_window_has_is_put_aside_and_named() {
    let (site, cloud) = (Site::new(8, 10), Cloud::start(&[Act::TickTaken, Act::Store]));
    let output = once(&site, &cloud);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("; 1 message put aside with ticks that other windows have"), "{said}");
    assert!(said.contains("1 message among them with ticks that other windows have"), "{said}");
    assert_eq!(cloud.uploads().len(), 3, "the others are sent");
    assert_eq!(files(&site.spool().join("refused"), ".envelope"), ["00000000000000000000.bfv.0.envelope"]);
    assert!(files(&site.spool(), ".envelope").is_empty());
    let summary = &site.json("report.json")["summary"];
    assert_eq!((&summary["refused"], &summary["tick_taken"]), (&1.into(), &1.into()));
}

#[test]
fn a_message_damaged_on_disk_is_put_aside() {
    let (site, cloud) = (Site::new(8, 10), Cloud::start(&[Act::Store]));
    std::fs::create_dir(site.spool()).unwrap();
    std::fs::write(site.spool().join("00000000000000000000.bfv.4.envelope"), b"sotto").unwrap();
    assert!(!once(&site, &cloud).status.success());
    let keys: Vec<String> = cloud.uploads().into_iter().map(|upload| upload.key).collect();
    assert_eq!(keys, ["device-1.bfv.5", "device-1.bgv.0", "device-1.ckks.0"]);
    assert_eq!(files(&site.spool().join("refused"), ".envelope"), ["00000000000000000000.bfv.4.envelope"]);
}
