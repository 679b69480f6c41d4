//! Writes of registrations are conditional on the number of writes before.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use sotto_api::devices::{RegisteredKey, Registration};
use sotto_cloud_client::Condition;

use crate::device::Device;
use crate::enrolments::{enrolment, path, world};
use crate::world::{Answer, World, bfv};

const KITCHEN: &str = "/v1/devices/kitchen";

fn put(world: &World, device: &Value, condition: &[(&str, &str)]) -> Answer {
    world.owner_with("PUT", KITCHEN, condition, device.to_string().as_bytes())
}

fn generation(world: &World) -> u64 {
    world.ask("/v1/devices")[0]["generation"].as_u64().unwrap()
}

#[test]
fn a_write_replaces_only_the_registration_that_it_names() {
    let world = World::start();
    let params = bfv();
    world.put_parameters(&params);
    let (one, two) = (Device::new("kitchen", &params, 1), Device::new("kitchen", &params, 2));
    let (one, two) = (one.registration(), two.registration());
    // Without a condition, or with none that can be read.
    put(&world, &one, &[]).refused(428, "condition-missing");
    for wrong in ["7", "\"0\"", "W/\"1\"", "\"1\", \"2\""] {
        put(&world, &one, &[("if-match", wrong)]).refused(400, "bad-request");
    }
    put(&world, &one, &[("if-none-match", "*"), ("if-match", "*")]).refused(400, "bad-request");
    // A device that is not there.
    put(&world, &one, &[("if-match", "\"1\"")]).refused(412, "written-since");
    put(&world, &one, &[("if-match", "*")]).refused(412, "written-since");
    assert_eq!(put(&world, &one, &[("if-none-match", "*")]).expect(200)["generation"], 1);
    // Another copy of the owner's folder.
    let refused = put(&world, &two, &[("if-none-match", "*")]);
    refused.refused(412, "written-since");
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("from 127.0.0.1 (generation 1)") && detail.contains("written at 20"), "{detail}");
    assert_eq!(put(&world, &two, &[("if-match", "\"1\"")]).expect(200)["generation"], 2);
    put(&world, &one, &[("if-match", "\"1\"")]).refused(412, "written-since");
    assert_eq!(world.ask("/v1/devices")[0]["verifying_key"], two["verifying_key"]);
    // A revocation is a write.
    world.owner_with("DELETE", KITCHEN, &[], &[]).refused(428, "condition-missing");
    world.owner_with("DELETE", KITCHEN, &[("if-match", "\"1\"")], &[]).refused(412, "written-since");
    let revoked = world.owner_with("DELETE", KITCHEN, &[("if-match", "\"2\"")], &[]).expect(200);
    assert_eq!((revoked["generation"].clone(), generation(&world)), (3.into(), 3));
    put(&world, &one, &[("if-match", "\"2\"")]).refused(412, "written-since");
    assert!(world.ask("/v1/devices")[0]["revoked"].as_bool().unwrap());
}

#[test]
fn generations_stay_over_a_restart() {
    let (mut world, _, device) = World::with_device();
    let registration = device.registration();
    put(&world, &registration, &[("if-match", "\"1\"")]).expect(200);
    world.stop();
    world.resume();
    assert_eq!(generation(&world), 2);
    let cloud = world.client();
    let key = &registration["keys"][0];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let key = RegisteredKey { parameter_id: text(&key["parameter_id"]), key_id: text(&key["key_id"]) };
    let registration = Registration {
        verifying_key: text(&registration["verifying_key"]),
        keys: vec![key],
        streams: Vec::new(),
        record: Some("00ff".into()),
    };
    assert_eq!(cloud.put_device("kitchen", &registration, Condition::Generation(2)), Ok(3));
    let refused = cloud.put_device("kitchen", &registration, Condition::Generation(2)).unwrap_err();
    assert_eq!(refused.refusal(), Some("written-since"));
    assert_eq!(cloud.sealed_record("kitchen").unwrap().unwrap().generation, 3);
    assert_eq!(cloud.revoke_device("kitchen", Condition::Generation(3)), Ok(Some(4)));
    assert_eq!(cloud.revoke_device("attic", Condition::Existing), Ok(None));
}

#[test]
fn a_file_of_another_copy_does_not_set_a_registration_back() {
    let mut world = world();
    let params = bfv();
    let (one, two) = (Device::new("kitchen", &params, 1), Device::new("kitchen", &params, 2));
    let file = path(&world, "kitchen");
    let write = |world: &mut World, device: &Device<_>, generation: u64| {
        let mut document = enrolment(device);
        document["generation"] = generation.into();
        std::thread::sleep(Duration::from_millis(20));
        fs::write(&file, document.to_string()).unwrap();
        world.stop();
        world.resume();
        let listed = world.ask("/v1/devices")[0].clone();
        (listed["generation"].as_u64().unwrap(), listed["verifying_key"].as_str().unwrap().to_owned())
    };
    let key = |device: &Device<_>| device.registration()["verifying_key"].as_str().unwrap().to_owned();
    // The folder is the first to write, and may write again.
    assert_eq!(write(&mut world, &one, 0), (1, key(&one)));
    assert_eq!(write(&mut world, &two, 0), (2, key(&two)));
    let refused = put(&world, &one.registration(), &[("if-match", "\"1\"")]);
    refused.refused(412, "written-since");
    assert!(refused.to_string().contains("the folder of enrolments"), "{refused}");
    // A request of another copy; then a later file that does not know of it.
    put(&world, &one.registration(), &[("if-match", "\"2\"")]).expect(200);
    assert_eq!(write(&mut world, &two, 2), (3, key(&one)));
    assert_eq!(write(&mut world, &two, 0), (3, key(&one)));
    // One that does.
    assert_eq!(write(&mut world, &two, 3), (4, key(&two)));
    // An older file, whatever it names.
    put(&world, &one.registration(), &[("if-match", "\"4\"")]).expect(200);
    let old = std::time::SystemTime::now() - Duration::from_secs(60);
    let mut document = enrolment(&two);
    document["generation"] = 5.into();
    fs::write(path(&world, "kitchen"), document.to_string()).unwrap();
    fs::File::options().write(true).open(path(&world, "kitchen")).unwrap().set_modified(old).unwrap();
    world.stop();
    world.resume();
    assert_eq!(world.ask("/v1/devices")[0]["verifying_key"], one.registration()["verifying_key"]);
}
