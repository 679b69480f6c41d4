//! Quotas of a device.

use sotto_cloud::config::Settings;

use crate::device::Device;
use crate::world::{World, bfv};

#[test]
fn bytes_of_a_device_are_bounded() {
    let world = World::start_with(|settings| Settings { device_bytes: Some(100_000), ..settings });
    let (world, mut device) = World::with_device_in(world);
    let body = device.envelope(0, &[1]);
    world.upload("", &body).expect(201);
    world.upload("", &device.envelope(1, &[1])).expect(201);
    let last = device.envelope(2, &[1]);
    world.upload("", &last).refused(507, "device-quota");
    world.upload("", &body).expect(200);
    let mut other = Device::new("attic", &bfv(), 2);
    world.register(&other);
    world.upload("", &other.envelope(0, &[1])).expect(201);
    world.forget("kitchen", Some("load"), 1).expect(200);
    world.upload("", &last).refused(507, "device-quota");
    world.forget("kitchen", None, 2001).expect(200);
    let mut header = device.header(3);
    header.ended_at = 3000;
    let ciphertext = device.encrypt(&[1]);
    world.upload("", &device.seal(header, ciphertext)).expect(201);
}

#[test]
fn envelopes_a_minute_are_bounded() {
    let world = World::start_with(|settings| Settings { device_rate: Some(3), ..settings });
    let (world, mut device) = World::with_device_in(world);
    let statuses: Vec<u16> =
        (0..5).map(|sequence| world.upload("", &device.envelope(sequence, &[1])).status).collect();
    assert_eq!(statuses, [201, 201, 201, 429, 429]);
    let mut other = Device::new("attic", &bfv(), 2);
    world.register(&other);
    world.upload("", &other.envelope(0, &[1])).expect(201);
}
