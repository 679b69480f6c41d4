//! Sums in place of the bodies of windows, by the owner's order.

use std::fs;
use std::path::PathBuf;

use sotto_cloud::backups::{self, Days};
use sotto_cloud::{Place, inspect, maintain};
use sotto_cloud_client::{PartsOf, WindowsOf};
use sotto_pack::Replaces;
use sotto_wire::{Envelope, LogPage, MaskName, Ordered, RollUp, StreamHead};

use crate::segments::segments;
use crate::store::open;
use crate::streams::site::{Readings, Site, start, window_with};
use crate::windows::remove_database;

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

#[test]
fn values_that_do_not_add_stay_window_by_window() {
    let mut site = Site::with_largest();
    for turn in 0..3 {
        let windows: Vec<Envelope> = (turn * 20..turn * 20 + 20).map(|number| site.window(number)).collect();
        site.upload_group(&windows).expect(201);
    }
    let sum = |windows, parts: &[u8]| PartsOf { windows, parts: parts.to_vec(), weights: None };
    let alone = |first: u64, count: u32| {
        let sums = (0..count).map(|at| sum((at, 1), &[2])).collect();
        WindowsOf { windows: vec![(first, count)], sums }
    };
    // Single windows, of several roll-ups and of none; beside sums of all, of a whole roll-up, of the windows behind it.
    let mut beside = alone(0, 60);
    beside.sums.extend([sum((0, 60), &[0, 1]), sum((5, 20), &[0]), sum((25, 30), &[1])]);
    let requests = [alone(0, 60), alone(7, 1), alone(24, 3), beside];
    let check = |site: &Site| requests.iter().for_each(|request| site.check(request));
    check(&site);
    assert_eq!(roll_up(&site, &[&[(5, 25)]]), 20);
    check(&site);
    let one = WindowsOf { windows: vec![(7, 1)], sums: vec![sum((0, 1), &[0])] };
    site.ask(&one).refused(422, "wrong-sum");
    let both = WindowsOf { windows: vec![(7, 1)], sums: vec![sum((0, 1), &[1, 2])] };
    site.ask(&both).refused(422, "wrong-sum");
    // Those of a sum in the place of an earlier one, after a copy, and without the database.
    assert_eq!(roll_up(&site, &[&[(5, 30)]]), 5);
    site.check(&alone(0, 60));
    site.check(&all_of(&[(5, 25)], None));
    site.world.stop();
    let config = site.world.config();
    inspect::check(&config, true, true).unwrap();
    remove_database(&site.world);
    maintain::rebuild(&config).unwrap();
    site.world.resume();
    site.check(&alone(0, 60));
    // A deletion takes them with the sum.
    let until = site.sent[&6].0.header().ended_at + 1;
    site.world.forget("kitchen", Some("load"), until).expect(200);
    site.ask(&alone(8, 1)).refused(422, "unknown-envelope");
    site.check(&alone(30, 10));
}

/// Sends windows in groups of 20, each of which comes into a segment of its own.
fn send_sealed(site: &mut Site, numbers: std::ops::Range<u64>) {
    for first in numbers.step_by(20) {
        let windows: Vec<Envelope> = (first..first + 20).map(|number| site.window(number)).collect();
        site.upload_group(&windows).expect(201);
        site.world.stop();
        site.world.resume();
    }
}

/// Returns the sums that the database keeps, and how many places in segments have each.
fn kept(site: &Site) -> Vec<(Vec<u8>, usize)> {
    let database = open(&site.world.data());
    let mut query = database.prepare("SELECT sums FROM roll_ups ORDER BY id").unwrap();
    let sums: Vec<Vec<u8>> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    sums.into_iter().map(|sum| (sum.clone(), places(site, &sum).len())).collect()
}

/// Returns where segments have some bytes.
fn places(site: &Site, bytes: &[u8]) -> Vec<(PathBuf, usize)> {
    let mut places = Vec::new();
    for file in segments(&site.world.data()) {
        let of_file = fs::read(&file).unwrap();
        let at = of_file.windows(bytes.len()).enumerate().filter(|(_, some)| *some == bytes);
        places.extend(at.map(|(at, _)| (file.clone(), at)));
    }
    places
}

#[test]
fn sums_outlast_the_database() {
    let mut site = Site::new();
    site.enrol();
    send_sealed(&mut site, 0..60);
    assert_eq!(roll_up(&site, &[&[(0, 10)], &[(10, 15), (20, 25)], &[(38, 44)]]), 26);
    // A sum in place of an earlier one, and one of heads alone.
    assert_eq!(roll_up(&site, &[&[(38, 48)]]), 4);
    let requests = [
        all_of(&[(0, 60)], None),
        all_of(&[(0, 10)], Some(-3)),
        all_of(&[(10, 5), (20, 5)], None),
        all_of(&[(38, 10)], None),
    ];
    let answers =
        |site: &Site| -> Vec<Vec<u8>> { requests.iter().map(|request| site.ask(request).bytes).collect() };
    let before = (page(&site).head, answers(&site));
    requests.iter().for_each(|request| site.check(request));
    // Merged with others.
    send_sealed(&mut site, 60..240);
    site.world.stop();
    assert!(segments(&site.world.data()).len() < 8);
    assert!(kept(&site).iter().all(|(_, places)| *places == 1), "each is in one segment");
    let config = site.world.config();
    inspect::check(&config, true, true).unwrap();
    for _ in 0..2 {
        remove_database(&site.world);
        maintain::rebuild(&config).unwrap();
        assert_eq!(kept(&site).iter().map(|(_, places)| *places).collect::<Vec<_>>(), [1; 3]);
        inspect::check(&config, true, true).unwrap();
        site.world.resume();
        assert_eq!(answers(&site), before.1);
        site.world.stop();
    }
    site.world.resume();
    let root = |head: &[u8]| StreamHead::read(head).unwrap().root;
    let Ordered::RollUp(first) = order(&site, &[&[(0, 10)]]) else { panic!("an order to roll up") };
    assert_eq!(first.size, 240);
    // The log has the root that it had, with the windows that came since.
    let mut tree = sotto_wire::Frontier::default();
    page(&site).entries().unwrap()[..60].iter().for_each(|entry| tree.push(entry.leaf));
    assert_eq!(tree.root(), root(&before.0));

    // A deletion takes a sum out of the files.
    let sums: Vec<Vec<u8>> = kept(&site).into_iter().map(|(sum, _)| sum).collect();
    let until = site.sent[&4].0.header().ended_at + 1;
    assert_eq!(site.world.forget("kitchen", Some("load"), until).expect(200)["envelopes"], 5);
    let gone: Vec<&Vec<u8>> = sums.iter().filter(|sum| places(&site, sum).is_empty()).collect();
    assert_eq!((gone.len(), kept(&site).len()), (1, 2));
    site.world.stop();
    remove_database(&site.world);
    maintain::rebuild(&config).unwrap();
    inspect::check(&config, true, true).unwrap();
    site.world.resume();
    site.ask(&all_of(&[(5, 1)], None)).refused(422, "unknown-envelope");
    site.check(&all_of(&[(10, 5), (20, 5), (38, 10)], None));
}

#[test]
fn a_flipped_bit_in_a_sum_is_named_and_repaired() {
    let mut site = Site::new();
    site.enrol();
    send_sealed(&mut site, 0..40);
    assert_eq!(roll_up(&site, &[&[(10, 30)]]), 20);
    let backup = site.world.folder().join("backup");
    let config = site.world.config();
    backups::backup(&config, &backup, Days::default()).unwrap();
    site.world.stop();
    let (sum, _) = kept(&site).remove(0);
    let (file, at) = places(&site, &sum).remove(0);
    let whole = fs::read(&file).unwrap();
    // In its digest, its runs, its frame.
    for at in [at - 80, at - 20, at + sum.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 8;
        fs::write(&file, &bytes).unwrap();
        let damaged = inspect::check(&config, false, false).unwrap_err();
        assert!(damaged.to_string().contains("places are damaged"), "{damaged}");
        inspect::repair(&config, Some(&backup)).unwrap();
        assert_eq!(fs::read(&file).unwrap(), whole);
        // Without a copy, the windows and the sum of the database are saved.
        fs::write(&file, bytes).unwrap();
        inspect::repair(&config, None::<Place>).unwrap();
        inspect::check(&config, true, false).unwrap();
        assert_eq!(places(&site, &sum).len(), 1);
        site.world.resume();
        site.check(&all_of(&[(0, 40)], None));
        site.world.stop();
        backups::restore(&config, &backup, None).unwrap();
    }
    // One that the database has otherwise.
    let other = "UPDATE roll_ups SET sums = CAST(x'00' || substr(sums, 2) AS BLOB)";
    open(&site.world.data()).execute(other, []).unwrap();
    assert!(inspect::check(&config, false, false).is_err());
}

/// Puts files in the place of all segments, and a database in the place of the present one; None removes it.
fn put(site: &Site, database: Option<&[u8]>, files: &[&(PathBuf, Vec<u8>)]) {
    remove_database(&site.world);
    let data = site.world.data();
    database.into_iter().for_each(|bytes| fs::write(data.join("cloud.sqlite"), bytes).unwrap());
    for folder in ["segments", "orphans/segments"] {
        for file in fs::read_dir(data.join(folder)).into_iter().flatten() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
    }
    files.iter().for_each(|(file, bytes)| fs::write(file, bytes).unwrap());
}

#[test]
fn no_sum_is_lost_whatever_files_a_crash_leaves() {
    let mut site = Site::new();
    site.enrol();
    send_sealed(&mut site, 0..60);
    let read = |site: &mut Site| {
        site.world.stop();
        let data = site.world.data();
        // Without a write-ahead log.
        open(&data).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let files: Vec<(PathBuf, Vec<u8>)> =
            segments(&data).into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect();
        (fs::read(data.join("cloud.sqlite")).unwrap(), files)
    };
    // A first sum of heads in the first segment, and then one in its place, which takes windows of all three.
    assert_eq!(roll_up(&site, &[&[(4, 8)]]), 4);
    let (database_before, before) = read(&mut site);
    site.world.resume();
    assert_eq!(roll_up(&site, &[&[(4, 50)]]), 42);
    let (database_after, after) = read(&mut site);
    assert_eq!((before.len(), after.len()), (3, 3));
    assert!(before.iter().all(|(file, _)| after.iter().all(|(other, _)| file != other)), "all are new");
    let config = site.world.config();
    for some in 0..8_u32 {
        // Before the commit: everything from before, and some of the new files. After it: the other way round.
        for (database, whole, others) in
            [(&database_before, &before, &after), (&database_after, &after, &before)]
        {
            let some: Vec<&(PathBuf, Vec<u8>)> =
                (0..3).filter(|at| some >> at & 1 == 1).map(|at| &others[at]).chain(whole).collect();
            for (what, database) in
                [("no", None), ("its", Some(database)), ("the earlier", Some(&database_before))]
            {
                put(&site, database.map(Vec::as_slice), &some);
                if database.is_none() {
                    maintain::rebuild(&config).unwrap();
                }
                site.world.resume();
                let request = all_of(&[(0, 60)], None);
                let answer = site.ask(&request);
                assert_eq!(answer.status, 200, "{what} database, {} files: {answer}", some.len());
                site.check(&request);
                site.world.stop();
                inspect::check(&config, true, true).unwrap();
                assert!(kept(&site).iter().all(|(_, places)| *places == 1), "{what} database");
            }
        }
    }
}
