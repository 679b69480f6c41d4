//! Sums in place of the bodies of windows, by the owner's order.

use sotto_cloud::backups::{self, Days};
use sotto_cloud::inspect;
use sotto_cloud_client::{PartsOf, WindowsOf};
use sotto_pack::Replaces;
use sotto_wire::{Envelope, LogPage, MaskName, Ordered, RollUp, StreamHead};

use crate::streams::site::{Readings, Site, start, window_with};

/// Groups of runs of positions, which equal the numbers here.
type Groups<'g> = &'g [&'g [(u64, u64)]];

fn page(site: &Site) -> LogPage {
    LogPage::read(&site.world.client().log("kitchen", "load", 0, None).unwrap()).unwrap()
}

fn order(site: &Site, groups: Groups<'_>) -> Ordered {
    let head = StreamHead::read(&page(site).head).unwrap();
    let groups = groups.iter().map(|group| group.to_vec()).collect();
    Ordered::RollUp(RollUp { stream: "load".to_owned(), size: head.size, root: head.root, groups })
}

/// Orders groups; returns the number of windows that became parts of sums.
fn roll_up(site: &Site, groups: Groups<'_>) -> u64 {
    site.world.order("kitchen", order(site, groups)).expect(200)["envelopes"].as_u64().unwrap()
}

/// Returns a request for one sum over runs of numbers.
fn all_of(windows: &[(u64, u32)], weight: Option<i64>) -> WindowsOf {
    let count = windows.iter().map(|(_, count)| count).sum();
    let weights = weight.map(|weight| vec![weight; count as usize]);
    let sums = vec![PartsOf { windows: (0, count), parts: vec![0, 1], weights }];
    WindowsOf { windows: windows.to_vec(), sums }
}

/// Returns a site with 60 windows, of which some have gaps.
fn site() -> Site {
    let mut site = Site::registered();
    for turn in 0..3 {
        let windows: Vec<Envelope> = (turn * 20..turn * 20 + 20).map(|number| site.window(number)).collect();
        site.upload_group(&windows).expect(201);
    }
    site
}

#[test]
fn sums_of_whole_groups_stay_as_they_were() {
    let mut site = site();
    let before = page(&site);
    assert_eq!(roll_up(&site, &[&[(0, 10)], &[(10, 15), (20, 25)], &[(38, 44)]]), 26);
    let check = |site: &Site| {
        site.check(&all_of(&[(0, 60)], None));
        site.check(&all_of(&[(0, 10)], Some(-3)));
        // In another order of the windows of a group, and with others around them.
        site.check(&all_of(&[(5, 5), (0, 5), (50, 2), (20, 5), (10, 5)], None));
        site.check(&all_of(&[(35, 20)], Some(2)));
        // A sum of each of two groups, of a window between them, and of one group without the other.
        let windows = vec![(0, 10), (30, 1), (38, 6)];
        let sum = |windows, parts: &[u8]| PartsOf { windows, parts: parts.to_vec(), weights: None };
        let sums = vec![sum((0, 10), &[0]), sum((10, 1), &[0, 1]), sum((11, 6), &[1]), sum((10, 7), &[0])];
        site.check(&WindowsOf { windows, sums });
        site.check(&all_of(&[(24, 1), (30, 1), (10, 5), (20, 4)], None));
        for apart in [&[(0, 9)][..], &[(1, 9)], &[(10, 5)], &[(10, 6), (21, 4)], &[(0, 5), (0, 5)]] {
            site.ask(&all_of(apart, None)).refused(422, "wrong-sum");
        }
        let uneven = PartsOf { windows: (0, 10), parts: vec![0], weights: Some((1..=10).collect()) };
        site.ask(&WindowsOf { windows: vec![(0, 10)], sums: vec![uneven] }).refused(422, "wrong-sum");
        let some = PartsOf { windows: (4, 8), parts: vec![0], weights: None };
        site.ask(&WindowsOf { windows: vec![(0, 20)], sums: vec![some] }).refused(422, "wrong-sum");
    };
    check(&site);
    // The log has the same leaves, and the headers of all windows.
    let after = page(&site);
    assert_eq!(after.entries().unwrap().len(), 60);
    for (before, after) in before.entries().unwrap().iter().zip(after.entries().unwrap()) {
        assert_eq!(
            (before.leaf, before.sequence, &before.signed),
            (after.leaf, after.sequence, &after.signed)
        );
        after.signed.unwrap().verify(&site.identity.verifying_key()).unwrap();
    }
    // The same order again, a start, a copy.
    assert_eq!(roll_up(&site, &[&[(0, 10)], &[(10, 15), (20, 25)], &[(38, 44)]]), 0);
    site.world.stop();
    inspect::check(&site.world.config(), true, true).unwrap();
    let backup = site.world.folder().join("backup");
    backups::backup(&site.world.config(), &backup, Days::default()).unwrap();
    backups::restore(&site.world.config(), &backup, None).unwrap();
    site.world.resume();
    check(&site);
}

#[test]
fn a_group_comes_in_the_place_of_those_that_it_has_whole() {
    let site = site();
    assert_eq!(roll_up(&site, &[&[(0, 4)], &[(4, 8)]]), 8);
    // A part of a kept sum does not become a part of another one: that group stays as it is.
    assert_eq!(roll_up(&site, &[&[(6, 8), (20, 22)], &[(30, 32)]]), 2);
    site.check(&all_of(&[(4, 4), (8, 1), (20, 1)], None));
    assert_eq!(roll_up(&site, &[&[(0, 12)]]), 4);
    site.check(&all_of(&[(0, 12)], None));
    site.ask(&all_of(&[(0, 4)], None)).refused(422, "wrong-sum");
}

#[test]
fn a_deletion_takes_the_whole_sum() {
    let site = site();
    assert_eq!(roll_up(&site, &[&[(0, 10)], &[(10, 20)]]), 20);
    let until = site.sent[&4].0.header().ended_at + 1;
    assert_eq!(site.world.forget("kitchen", Some("load"), until).expect(200)["envelopes"], 5);
    for number in 0..10 {
        site.ask(&all_of(&[(number, 1)], None)).refused(422, "unknown-envelope");
    }
    site.check(&all_of(&[(10, 10)], None));
    // An order with a deleted window leaves that group as it is.
    assert_eq!(roll_up(&site, &[&[(3, 8)], &[(30, 32)]]), 2);
    site.check(&all_of(&[(30, 2)], None));
}

#[test]
fn an_order_about_another_log_changes_nothing() {
    let site = site();
    let Ordered::RollUp(other) = order(&site, &[&[(0, 10)]]) else { panic!("an order to roll up") };
    let other = Ordered::RollUp(RollUp { root: [7; 32], ..other });
    assert_eq!(site.world.order("kitchen", other).expect(200)["envelopes"], 0);
    site.check(&all_of(&[(3, 1)], None));
}

#[test]
fn a_correction_of_a_window_in_a_sum_is_refused_by_name_and_late_readings_are_taken() {
    let mut site = site();
    assert_eq!(roll_up(&site, &[&[(0, 10)]]), 10);
    let correction = |number: u64, of: u64| {
        let readings: Readings = (0..4).map(|tick| Some(tick * 3)).collect();
        let name = MaskName { salt: [9; 12], sequence: number };
        let window =
            window_with(start(of), &site.identity, &site.header, number, name, &readings, |described| {
                described.replaces = Some(Replaces { windows: vec![of], channels: vec![0] });
            });
        site.upload(&window)
    };
    let refused = correction(70, 4);
    let text = refused.json()["detail"].to_string();
    refused.refused(409, "rolled-up");
    assert!(text.contains("corrects window 4 of stream load"), "{text}");
    correction(71, 12).expect(201);
    let late = site.window(75);
    site.upload(&late).expect(201);
    site.check(&all_of(&[(0, 10)], None));
}
