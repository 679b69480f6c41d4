//! No pad serves two windows, whatever happens to the process, its spool and its bundle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use sotto_agent::spool::Inventory;
use sotto_wire::{Envelope, LARGEST_ENVELOPE};

use super::{Plant, copy};
use crate::site::{self, Act, agent};

/// Windows by stream, salt and pad number: the bytes of their parts.
#[derive(Default)]
struct Seen {
    pads: BTreeMap<([u8; 32], [u8; 12], u64), Vec<u8>>,
    /// Salts of each sequence number.
    salts: BTreeMap<u64, BTreeSet<[u8; 12]>>,
    renumbered: usize,
}

impl Seen {
    fn add(&mut self, window: &Envelope) {
        let pads = window.mask().unwrap();
        let stream = window.signed_header().stream().unwrap().id().0;
        let parts = window.body().coefficients().unwrap();
        let known = self.pads.entry((stream, pads.salt, pads.sequence)).or_insert_with(|| parts.to_vec());
        // The same message may be seen several times.
        assert!(known == parts, "two windows under pad {} of {:?}", pads.sequence, pads.salt);
        self.salts.entry(pads.sequence).or_default().insert(pads.salt);
        self.renumbered += usize::from(window.header().sequence != pads.sequence);
    }

    /// Adds all windows of a spool, put aside or not.
    fn add_spool(&mut self, spool: &Path) {
        for folder in [spool.to_owned(), spool.join("refused")] {
            for name in site::files(&folder, ".envelope") {
                let bytes = std::fs::read(folder.join(name)).unwrap();
                self.add(&Envelope::read_kept(&bytes, LARGEST_ENVELOPE).unwrap());
            }
        }
    }
}

/// Asserts that the disk has the number of each window that arrived: in the state, or as a message.
fn numbers_are_durable(plant: &Plant) {
    let spool = plant.spool();
    let streams = Inventory::read(&spool).unwrap().streams;
    let next = streams.get("hours").map_or(0, |stream| stream.next);
    let in_spool: BTreeSet<u64> = site::files(&spool, ".envelope")
        .iter()
        .map(|name| name.split('.').nth(2).unwrap().parse().unwrap())
        .collect();
    for window in plant.envelopes() {
        let number = window.mask().unwrap().sequence;
        assert!(number < next || in_spool.contains(&number), "pad {number} left before its number was kept");
    }
}

#[test]
fn no_pad_serves_twice() {
    // Now and then the cloud has another window with the number.
    let script = |every: usize| -> Vec<Act> {
        (0..20_000).map(|at| if at % every == every - 1 { Act::Taken } else { Act::Store }).collect()
    };
    let mut seen = Seen::default();
    let mut plant = Plant::new(&script(101), false);
    let (mut hours, mut runs) = (0, 0);
    let mut run = |plant: &Plant, hours: u32| {
        runs += 1;
        plant.command_of(hours, runs)
    };
    for (life, groups) in [false, true, true, true].into_iter().enumerate() {
        if life > 0 {
            plant = plant.renewed(&script(29), groups);
        }
        for wait in [15, 30, 45, 60, 80, 110, 150] {
            let mut child = run(&plant, hours + 300).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(wait));
            child.kill().unwrap();
            child.wait().unwrap();
            numbers_are_durable(&plant);
            seen.add_spool(&plant.spool());
        }
        // The folder is set back twice: each time the device continues from the same number.
        copy(&plant.spool(), &plant.path("snapshot"));
        for more in [1000, 950, 1050] {
            let _ = run(&plant, hours + more).status().unwrap();
            seen.add_spool(&plant.spool());
            std::fs::remove_dir_all(plant.spool()).unwrap();
            copy(&plant.path("snapshot"), &plant.spool());
        }
        std::fs::remove_dir_all(plant.path("snapshot")).unwrap();
        hours += 900;
        let _ = run(&plant, hours).status().unwrap();
        // The cloud may have the new number too. The next life's does not know this stream.
        for _ in 0..10 {
            if site::files(&plant.spool().join("refused"), ".envelope").is_empty() {
                break;
            }
            let mut again = agent();
            again.arg("requeue").arg("--bundle").arg(plant.path("boiler.bundle")).stderr(Stdio::null());
            let _ = again.status().unwrap();
        }
        seen.add_spool(&plant.spool());
        plant.envelopes().iter().for_each(|window| seen.add(window));
    }
    // Without a spool the device begins at 0.
    std::fs::remove_dir_all(plant.spool()).unwrap();
    let _ = run(&plant, 50).status().unwrap();
    plant.envelopes().iter().for_each(|window| seen.add(window));

    let starts: BTreeSet<_> = seen.pads.keys().map(|(_, salt, _)| *salt).collect();
    let repeated = seen.salts.values().filter(|salts| salts.len() > 1).count();
    assert!(seen.pads.len() > 10_000, "{} windows", seen.pads.len());
    assert!(starts.len() > 20 && repeated > 500, "{} starts, {repeated} repeated numbers", starts.len());
    assert!(seen.renumbered > 0, "no window was sent under another number");
    eprintln!(
        "{} windows of {} starts, {repeated} numbers under several salts, {} renumbered",
        seen.pads.len(),
        starts.len(),
        seen.renumbered
    );
}
