//! Windows that the owner deleted, and windows that the cloud says are.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::liar::{self, Lie};
use crate::lies::DELETED;
use crate::world::{CURVE, DAILY, World};

/// A cloud that deletes a window of every stream is asked for the owner's orders once for each answer.
pub(crate) fn told(world: &World) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let lie: Lie = Box::new(move |truth, request| {
        if request.is("GET", "/v1/orders") && request.path.ends_with("from=0") {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if !request.is("GET", "/v1/log") {
            return truth.tell(&request);
        }
        truth.log(&request, |windows| {
            if let Some(window) = windows.get_mut(2).and_then(Value::as_object_mut) {
                ["id", "signed"].iter().for_each(|field| drop(window.remove(*field)));
            }
        })
    });
    let plant = world.owner("told", false, &liar::start(&world.url, &world.signing_key, lie));
    let printed = world.sotto(&plant, &["ask", DAILY]);
    assert_eq!(printed.code, 0, "{}", printed.text);
    let notes = printed.text.matches(DELETED).count();
    assert!(notes > 1, "several streams lack a window: {}", printed.text);
    assert_eq!(asked.load(Ordering::Relaxed), 1, "{notes} notes");
    println!("{notes} streams without a window: the orders are fetched once");
}

/// An answer on windows that another computer of the owner deleted since cannot be repeated, which is no finding on any day.
pub(crate) fn ordered(world: &World) {
    let [here, there] = ["here", "there"].map(|name| world.owner(name, false, &world.url));
    let asked = world.sotto(&there, &["ask", CURVE]);
    assert_eq!(asked.code, 0, "{}", asked.text);
    let done = world.sotto(&here, &["forget", "--device", "meter", "--before", "2025-03-03", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.text);
    let days = there.join("answers").join(format!("{}.open", world.latest_answer(&there)));
    let verified = || {
        let done = world.sotto(&there, &["verify"]);
        assert_eq!(done.code, 6, "{}", done.text);
        assert!(done.text.contains("was deleted by your order"), "{}", done.text);
    };
    verified();
    assert!(!days.exists());
    // The cloud was away on two days before.
    fs::write(&days, r#"{ "days": ["2025-04-01", "2025-04-02"] }"#).unwrap();
    verified();
    println!("windows that the owner deleted: not repeated, and no finding on the third day");
}
