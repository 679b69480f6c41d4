//! Requests of senders that the cloud does not know take few lines of its log.

use std::fs::{self, File};
use std::process::Stdio;

use sotto_wire::PositionRequest;

use crate::device::Device;
use crate::position::now;
use crate::process::{address, run};
use crate::world::{World, send};

/// Requests of each kind.
const OF_EACH: usize = 200;

#[test]
fn a_thousand_requests_of_strangers_take_few_lines() {
    // A store with a device; the program then serves it.
    let (mut world, params, mut device) = World::with_device();
    let (good, mut forged) = (device.envelope(0, &[1]), device.envelope(1, &[1]));
    world.stop();
    *forged.last_mut().unwrap() ^= 1;
    let stranger = Device::new("kitchen", &params, 9);
    let unknown = Device::new("attic", &params, 9);
    let log = world.folder().join("log");
    let mut child = run(world.folder())
        .arg("--exit-with-stdin")
        .stderr(Stdio::from(File::create(&log).unwrap()))
        .spawn()
        .unwrap();
    let url = |path: &str| format!("http://{}{path}", address(world.folder()));
    let ask = |device: &Device<_>| {
        let sign = |message: &[u8]| device.identity.sign(message);
        PositionRequest::sign(&device.name, "load", now(), sign).unwrap().write().unwrap()
    };
    let key = |number: usize| format!("kitchen.load.{number}");
    for _ in 0..OF_EACH {
        send("GET", &url("/v1/devices"), &[("authorization", "Bearer wrong-wrong-wrong")], &[])
            .refused(401, "unauthorised");
        send("POST", &url("/v1/position"), &[], &ask(&stranger)).refused(403, "not-admitted");
        send("POST", &url("/v1/position"), &[], &ask(&unknown)).refused(403, "not-admitted");
        let upload = send("POST", &url("/v1/envelopes"), &[("idempotency-key", &key(1))], &forged);
        upload.refused(400, "digest-mismatch");
        send("GET", &url("/wp-login.php"), &[], &[]).refused(404, "no-such-resource");
    }
    // Known senders have a line each: the owner, a device, and a device that is refused.
    let token = format!("Bearer {}", crate::world::TOKEN);
    send("GET", &url("/v1/devices"), &[("authorization", &token)], &[]).expect(200);
    send("GET", &url("/v1/devices?limit=x"), &[("authorization", &token)], &[]).refused(400, "bad-request");
    send("POST", &url("/v1/envelopes"), &[("idempotency-key", &key(0))], &good).expect(201);
    let question = ask(&device);
    send("POST", &url("/v1/position"), &[], &question).expect(200);
    send("POST", &url("/v1/position"), &[], &question).refused(409, "asked-before");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let log = fs::read_to_string(&log).unwrap();
    let answered: Vec<&str> = log.lines().filter(|line| line.contains("answered")).collect();
    assert_eq!(answered.len(), 5, "{answered:?}");
    // One line at once, one a minute, one at the end.
    let told: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("of an unknown sender") || line.contains("of unknown senders"))
        .collect();
    assert!(told.len() < 10, "{told:?}");
    let requests = |line: &&str| -> usize {
        let (_, after) = line.split_once("requests=").unwrap();
        after.split_whitespace().next().unwrap().parse().unwrap()
    };
    assert_eq!(told.iter().map(requests).sum::<usize>(), 5 * OF_EACH, "{told:?}");
    assert!(!log.contains("wp-login") && log.lines().count() < 40, "{log}");
}
