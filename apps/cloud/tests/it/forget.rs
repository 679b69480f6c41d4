//! Deletion by the owner, and expiry of jobs.

use sotto_wire::{Forget, FromLog, LogPage, Ordered, StreamHead};

use crate::device::Device;
use crate::jobs::{ADD, plan};
use crate::store::{contents, open};
use crate::world::World;

/// Stores envelopes that end at 1000, 2000, … ms.
fn keep<S: sotto_rlwe::Scheme<Value = i64>>(world: &World, device: &mut Device<S>, sequence: u64) -> String {
    let mut header = device.header(sequence);
    header.ended_at = 1000 * (sequence as i64 + 1);
    let ciphertext = device.encrypt(&[1]);
    world.keep(&device.seal(header, ciphertext))
}

#[test]
fn forgotten_windows_are_gone_with_the_jobs_on_them_and_do_not_come_back() {
    let (world, params, mut device) = World::with_device();
    let kept: Vec<String> = (0..4).map(|sequence| keep(&world, &mut device, sequence)).collect();
    let mut other = Device::new("attic", &params, 2);
    world.register(&other);
    keep(&world, &mut other, 0);
    let id = world.put_plan(&plan(&params, 2, &ADD));
    let job = |a: usize, b: usize| {
        let job = world.submit(&id, &[&kept[a], &kept[b]]).expect(202)["job"].as_str().unwrap().to_owned();
        world.ended(&job);
        job
    };
    let (gone, stays) = (job(0, 3), job(2, 3));
    let before = contents(&world.data());
    let answer = world.forget("kitchen", None, 3000).expect(200);
    assert_eq!(
        (&answer["envelopes"], &answer["jobs"], &answer["outputs"]),
        (&2.into(), &1.into(), &1.into())
    );
    let after = contents(&world.data());
    assert_eq!(after.envelopes(), (3, 3));
    assert_eq!(after.rows["removals"], 0);
    assert_eq!(before.files.len() - after.files.len(), 3);
    world.owner("GET", &format!("/v1/jobs/{gone}"), &[]).refused(404, "unknown-job");
    assert_eq!(world.ask(&format!("/v1/jobs/{stays}"))["state"], "done");
    assert_eq!(world.forget("kitchen", None, 3000).expect(200)["envelopes"], 0);

    // Neither the same windows nor others of that time are accepted again; later ones are.
    let mut header = device.header(9);
    header.ended_at = 2999;
    let ciphertext = device.encrypt(&[1]);
    world.upload("", &device.seal(header, ciphertext)).refused(410, "forgotten");
    keep(&world, &mut device, 10);
    assert_eq!(contents(&world.data()).envelopes(), (4, 4));
}

#[test]
fn an_order_deletes_the_windows_that_it_names_and_is_kept_once() {
    let (world, _, mut device) = World::with_device();
    (0..5).for_each(|sequence| drop(keep(&world, &mut device, sequence)));
    let page = || LogPage::read(&world.client().log("kitchen", "load", 0, None).unwrap()).unwrap();
    let head = StreamHead::read(&page().head).unwrap();
    let named = |positions: &[u64], root| {
        let from_log = Some(FromLog::of(head.size, root, positions.iter().copied()));
        Ordered::Forget(Forget { stream: Some("load".to_owned()), until: 4001, next: 4, from_log })
    };
    // Of another log: nothing is deleted, as after a backup was put back.
    assert_eq!(world.order("kitchen", named(&[0, 1], [7; 32])).expect(200)["envelopes"], 0);
    // The last one ended too late.
    let order = named(&[1, 3, 4], head.root);
    assert_eq!(world.order("kitchen", order.clone()).expect(200)["envelopes"], 2);
    assert_eq!(world.order("kitchen", order.clone()).expect(200)["envelopes"], 0);
    let left = page().entries().unwrap();
    assert_eq!(
        left.iter().map(|window| window.id.is_some()).collect::<Vec<_>>(),
        [true, false, true, false, true]
    );
    // All orders are kept, each once.
    let kept = world.client().orders().unwrap();
    assert_eq!(kept.len(), 2);
    assert_eq!(kept[1], crate::world::order("kitchen", order).write().unwrap());
    // Another signature than that of the key in it.
    let mut forged = kept[1].clone();
    let end = forged.len() - 32;
    forged[end - 1] ^= 1;
    let digest = blake3::hash(&forged[..end]);
    forged[end..].copy_from_slice(digest.as_bytes());
    world.owner("POST", "/v1/orders", &forged).refused(422, "bad-signature");
    world.owner("POST", "/v1/orders", &[7; 99]).refused(400, "not-a-frame");
    assert_eq!(world.client().orders().unwrap().len(), 2);
    let unknown = Ordered::Revoke { key: [1; 32] };
    assert_eq!(world.order("nobody", unknown).expect(200)["envelopes"], 0);
    assert_eq!(world.client().orders().unwrap().len(), 3);
}

#[test]
fn a_deletion_that_was_cut_off_is_finished_at_the_next_start() {
    let (mut world, _, mut device) = World::with_device();
    let kept = keep(&world, &mut device, 0);
    world.stop();
    let database = open(&world.data());
    database.execute("DELETE FROM envelopes", []).unwrap();
    database.execute("INSERT INTO removals VALUES ('envelopes', ?1)", [&kept]).unwrap();
    drop(database);
    world.resume();
    assert_eq!(contents(&world.data()).envelopes(), (0, 0));
    assert_eq!(contents(&world.data()).rows["removals"], 0);
    assert!(!world.data().join("orphans").exists());
}

#[test]
fn jobs_age_out() {
    let (mut world, params, mut device) = World::with_device();
    let kept = keep(&world, &mut device, 0);
    let id = world.put_plan(&plan(&params, 2, &ADD));
    let [old, new] = [0, 1].map(|_| {
        let job = world.submit(&id, &[&kept, &kept]).expect(202)["job"].as_str().unwrap().to_owned();
        world.ended(&job);
        job
    });
    world.stop();
    let update = "UPDATE jobs SET ended_at = ended_at - 31 * 86400000 WHERE lower(hex(id)) = ?1";
    assert_eq!(open(&world.data()).execute(update, [&old]).unwrap(), 1);
    world.resume();
    let begin = std::time::Instant::now();
    while world.owner("GET", &format!("/v1/jobs/{old}"), &[]).status == 200 {
        assert!(begin.elapsed().as_secs() < 20, "the old job is still there");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(world.ask(&format!("/v1/jobs/{new}"))["state"], "done");
    assert_eq!(contents(&world.data()).rows["job_outputs"], 1);
}
