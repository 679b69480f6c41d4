//! Lists and limits, asked for with the owner's client.

use sotto_cloud::config::Settings;

use crate::world::{LARGEST_UPLOAD, World};

#[test]
fn limits_are_those_of_the_configuration_and_of_plans() {
    let world = World::start_with(|settings| Settings { largest_job: Some(12_345_678), ..settings });
    let limits = world.client().limits().unwrap();
    assert_eq!(limits.version, env!("CARGO_PKG_VERSION"));
    assert_eq!((limits.largest_upload, limits.largest_job), (LARGEST_UPLOAD, 12_345_678));
    assert_eq!((limits.largest_keys, limits.largest_plan), (256 << 20, sotto_wire::LARGEST_PLAN));
    assert_eq!((limits.most_galois_keys, limits.most_transfer_keys, limits.most_device_keys), (64, 64, 256));
    assert_eq!((limits.most_inputs, limits.most_outputs, limits.most_steps), (1024, 256, 100_000));
    assert_eq!(limits.largest_page, 1000);
}
