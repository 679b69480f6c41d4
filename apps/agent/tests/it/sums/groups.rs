//! Windows that wait travel in groups, under one signature, and none is lost.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::{Plant, hour};
use crate::site::{self, Act, Cloud, agent};

impl Plant {
    /// Returns the sequence numbers of each upload's windows.
    fn numbers(&self) -> Vec<Vec<u64>> {
        let numbers =
            |upload: &site::Upload| self.read(upload).iter().map(|window| window.header().sequence).collect();
        self.cloud.uploads().iter().map(numbers).collect()
    }

    /// Leaves one window per hour in the spool, by a run against a cloud that takes nothing.
    fn fill(&self, hours: u32) {
        let nowhere = Cloud::start(&[Act::Status(503)]);
        let mut child = self.command(hours).args(["--cloud", &nowhere.url()]).spawn().unwrap();
        let begin = Instant::now();
        while self.waiting().len() < hours as usize {
            assert!(begin.elapsed() < Duration::from_secs(60), "the spool is not filled");
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn waiting(&self) -> Vec<String> {
        if self.spool().exists() { site::files(&self.spool(), ".envelope") } else { Vec::new() }
    }

    fn refused(&self) -> Vec<String> {
        site::files(&self.spool().join("refused"), ".envelope")
    }
}

fn alone(numbers: &[u64]) -> Vec<Vec<u64>> {
    numbers.iter().map(|number| vec![*number]).collect()
}

#[test]
fn a_window_whose_number_is_taken_is_sent_under_another_one() {
    let plant = Plant::new(&[Act::Taken, Act::Store], false);
    assert!(!plant.command(3).status().unwrap().success(), "a message was put aside");
    let mut again = agent();
    again.arg("requeue").arg("--bundle").arg(plant.path("boiler.bundle"));
    assert!(again.output().unwrap().status.success());
    let windows = plant.envelopes();
    let numbers: Vec<u64> = windows.iter().map(|window| window.header().sequence).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert_eq!(windows[3].body(), windows[0].body(), "it is not encrypted again");
    assert_eq!(windows[3].mask(), windows[0].mask());
}

#[test]
fn windows_that_wait_together_go_under_one_signature() {
    let plant = Plant::new(&[Act::Store], true);
    plant.fill(70);
    plant.run(70);
    // A group has at most 64 KiB of files and 64 windows.
    let numbers = plant.numbers();
    assert!(numbers[0].len() > 40 && numbers.iter().all(|group| group.len() <= 64), "{numbers:?}");
    assert!(numbers.concat().into_iter().eq(0..70), "{numbers:?}");
    assert!(plant.waiting().is_empty() && plant.refused().is_empty());
    assert!(plant.envelopes().iter().map(hour).eq(0..70));
}

#[test]
fn a_cloud_without_groups_is_asked_once() {
    let plant = Plant::new(&[Act::Store], false);
    plant.fill(7);
    plant.run(7);
    assert_eq!(plant.numbers(), alone(&[0, 1, 2, 3, 4, 5, 6]));
    assert!(plant.waiting().is_empty() && plant.refused().is_empty());
}

/// After any answer to a group, its windows travel alone first, then groups again.
#[test]
fn a_group_is_never_in_the_way_of_a_window() {
    let all: Vec<u64> = (0..5).collect();
    for act in [
        Act::Drop,
        Act::Status(503),
        Act::Status(200),
        Act::Status(404),
        Act::Refuse(422),
        Act::Taken,
        Act::TooLarge,
        Act::OtherReceipt,
        Act::FewReceipts,
    ] {
        let plant = Plant::new(&[act, Act::Store], true);
        plant.fill(5);
        plant.run(5);
        assert_eq!(plant.numbers(), [vec![all.clone()], alone(&all)].concat(), "{act:?}");
        assert!(plant.waiting().is_empty() && plant.refused().is_empty(), "{act:?}");
    }

    // A refused window is put aside alone.
    let plant = Plant::new(&[Act::Taken, Act::Store, Act::Store, Act::Taken, Act::Store], true);
    plant.fill(4);
    assert!(!plant.command(4).status().unwrap().success());
    assert_eq!(plant.numbers(), [vec![vec![0, 1, 2, 3]], alone(&[0, 1, 2, 3])].concat());
    assert_eq!((plant.refused().len(), plant.waiting().len()), (1, 0));
    assert!(plant.refused()[0].ends_with(".hours.2.envelope"));

    // After a temporary failure, the windows travel alone, then a group again.
    let plant = Plant::new(&[Act::Store, Act::Status(503), Act::Status(503), Act::Store], true);
    plant.fill(130);
    plant.run(130);
    let numbers = plant.numbers();
    let (first, second) = (numbers[0].len() as u64, numbers[1].len() as u64);
    let singles: Vec<u64> = [first].into_iter().chain(first..first + second).collect();
    assert_eq!(numbers[2..2 + singles.len()], alone(&singles));
    assert!(numbers[2 + singles.len()].len() > 1);
    assert!(plant.waiting().is_empty());
}

/// Nothing leaves the spool before its receipt, at whatever moment the process is killed.
#[test]
fn windows_of_a_group_outlast_a_killed_process() {
    let plant = Plant::new(&[Act::Store], true);
    plant.fill(60);
    for wait in [2, 5, 10, 20, 40] {
        let before = plant.waiting();
        let mut child = plant.command(60).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        let arrived: BTreeSet<u64> = plant.numbers().concat().into_iter().collect();
        for gone in before.iter().filter(|name| !plant.waiting().contains(name)) {
            let number = gone.split('.').nth(2).unwrap().parse().unwrap();
            assert!(arrived.contains(&number), "{number} left the spool without a receipt");
        }
    }
    plant.run(60);
    let arrived: BTreeSet<u64> = plant.numbers().concat().into_iter().collect();
    assert!(arrived.into_iter().eq(0..60) && plant.waiting().is_empty());
}
