//! `sotto retain`: sums of hours are of streams that are cut by the hour.

use crate::session::{self, sotto};

#[test]
fn hours_of_windows_of_a_day_are_refused_with_the_way_to_windows_of_an_hour() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    session::init_every(folder, "30m", "mean(heat), max(heat) by day");
    let _cloud = session::serve(folder);
    let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
    run(&["device", "add", "boiler", "--channels", "heat,flow"]);
    session::send_days(folder, "boiler.bundle", 0..3, 0);
    let hours = ["retain", "heat", "90d", "--roll-up", "hour:2y", "--roll-up", "month:forever", "--dry-run"];
    let refused = sotto(folder, &hours).unwrap_err();
    for part in [
        "no sum of an hour can be made of windows of heat that boiler sent",
        "`sotto question add hours 'mean(heat) by hour'`",
        "`sotto device renew boiler`",
    ] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    run(&["question", "add", "hours", "mean(heat) by hour"]);
    assert_eq!(sotto(folder, &hours).unwrap_err(), refused, "the device has the earlier bundle");
    run(&["device", "renew", "boiler"]);
    // The days that were sent before become a month.
    let planned = run(&hours);
    assert!(planned.contains("3 windows from 2024-01-01 to 2024-01-03 become 1 sum"), "{planned}");
    session::send_days(folder, "boiler-2.bundle", 3..5, 0);
    let planned = run(&hours);
    assert!(planned.contains("48 windows from 2024-01-04 to 2024-01-05 become 1 sum"), "{planned}");
    let only = ["retain", "heat", "90d", "--roll-up", "hour:forever"];
    assert!(run(&only).contains("nothing is added up"), "a window of an hour is alone in its hour");
}

#[test]
fn readings_an_hour_apart_have_no_windows_of_an_hour() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    session::init(folder, "mean(heat) by hour");
    sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    let refused = sotto(folder, &["retain", "heat", "90d", "--roll-up", "hour:forever"]).unwrap_err();
    assert!(refused.contains("an hour or more apart, and come in windows of a day"), "{refused}");
}
