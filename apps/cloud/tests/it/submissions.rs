//! Jobs submitted twice, and the list of jobs.

use serde_json::json;

use crate::jobs::{ADD, plan};
use crate::world::{Answer, TOKEN, World, send};

fn submit(world: &World, key: &str, plan: &str, inputs: &[&str]) -> Answer {
    let authorization = format!("Bearer {TOKEN}");
    let headers = [("authorization", authorization.as_str()), ("idempotency-key", key)];
    let submission = json!({ "plan": plan, "inputs": inputs }).to_string();
    send("POST", &world.url("/v1/jobs"), &headers, submission.as_bytes())
}

#[test]
fn the_same_submission_is_one_job() {
    let (mut world, params, mut device) = World::with_device();
    let [a, b] = [0, 1].map(|sequence| world.keep(&device.envelope(sequence, &[1])));
    let id = world.put_plan(&plan(&params, 2, &ADD));
    let first = submit(&world, "once", &id, &[&a, &b]).expect(202);
    assert_eq!(submit(&world, "once", &id, &[&a, &b]).expect(200), first);
    submit(&world, "once", &id, &[&b, &a]).refused(409, "idempotency-key-reused");
    submit(&world, "", &id, &[&a, &b]).refused(400, "invalid-idempotency-key");
    assert_ne!(submit(&world, "twice", &id, &[&a, &b]).expect(202), first);
    // Without an idempotency key, each submission is a job of its own.
    let [third, fourth] = [0, 1].map(|_| world.submit(&id, &[&a, &b]).expect(202));
    assert_ne!(third, fourth);
    world.stop();
    world.resume();
    assert_eq!(submit(&world, "once", &id, &[&a, &b]).expect(200), first);
    assert_eq!(world.ask("/v1/jobs").as_array().unwrap().len(), 4);
}

#[test]
fn of_many_at_the_same_time_one_becomes_a_job() {
    let (world, params, mut device) = World::with_device();
    let a = world.keep(&device.envelope(0, &[1]));
    let id = world.put_plan(&plan(&params, 2, &ADD));
    let jobs: Vec<_> = std::thread::scope(|scope| {
        let submit = || submit(&world, "once", &id, &[&a, &a]).json()["job"].clone();
        let all: Vec<_> = (0..6).map(|_| scope.spawn(submit)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(jobs[0].is_string() && jobs.iter().all(|job| *job == jobs[0]), "{jobs:?}");
}

#[test]
fn jobs_are_listed_in_pages_the_newest_first() {
    let (world, params, mut device) = World::with_device();
    let a = world.keep(&device.envelope(0, &[1]));
    let id = world.put_plan(&plan(&params, 2, &ADD));
    let mut submitted: Vec<String> = (0..5)
        .map(|_| {
            let job = world.submit(&id, &[&a, &a]).expect(202)["job"].as_str().unwrap().to_owned();
            world.ended(&job);
            // Never two in the same millisecond, so that their order is that of submission.
            std::thread::sleep(std::time::Duration::from_millis(2));
            job
        })
        .collect();
    submitted.reverse();
    let (mut listed, mut path) = (Vec::new(), "/v1/jobs?limit=2".to_owned());
    loop {
        let page = world.owner("GET", &path, &[]);
        for job in page.expect(200).as_array().unwrap() {
            assert_eq!(
                (&job["state"], &job["inputs"], &job["outputs"]),
                (&json!("done"), &json!(2), &json!(1))
            );
            assert!(job["bytes"].as_u64().unwrap() > 1000 && job["ended_at"].is_i64());
            listed.push(job["job"].as_str().unwrap().to_owned());
        }
        let Some(next) = page.link.strip_prefix('<').and_then(|link| link.split('>').next()) else { break };
        path = format!("/v1/jobs{next}");
    }
    assert_eq!(listed, submitted);
    world.owner("GET", "/v1/jobs?after=none", &[]).refused(400, "bad-request");
}
