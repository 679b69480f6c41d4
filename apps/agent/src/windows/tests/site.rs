//! A device's spool, as far as windows need it, and the readings that count of what it has sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sotto_pack::{Replaces, WindowDescription};

use super::*;
use crate::spool::Contents;
use crate::spool::kept::Kept;

/// A message, and the numbers of its slots.
#[derive(Clone)]
pub(super) struct Message {
    pub(super) number: u64,
    pub(super) description: WindowDescription,
    pub(super) slots: Vec<i64>,
    /// The time by the device's clock.
    pub(super) at: i64,
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kill {
    Never,
    /// After this many messages, before anything of the next window is written.
    Before(usize),
    /// After this many messages, between the kept readings and the message of the next window.
    Between(usize),
    /// Behind the message after this many, before kept readings are deleted that it has.
    After(usize),
}

/// For each channel the numbers by tick, and for each tick the pairs of channels that one window has.
pub(super) type Counting = (BTreeMap<(u16, i64), i64>, BTreeSet<(i64, u16, u16)>);

/// A device with one stream.
pub(super) struct Site {
    pub(super) channels: Vec<Channel>,
    pub(super) cut: Cut,
    pub(super) clock: Clock,
    pub(super) kept: Arc<Kept>,
    pub(super) messages: Vec<Message>,
    pub(super) sent: Sent,
    pub(super) now: i64,
    next: u64,
}

/// How rows are read.
#[derive(Clone, Default)]
pub(super) struct How {
    pub(super) paced: bool,
    pub(super) most_reports: Option<usize>,
    pub(super) correct: bool,
    pub(super) allow_missing: bool,
    /// For each channel, true if the source has it; `None` if it has all.
    pub(super) has: Option<Vec<bool>>,
    /// True if rows come at their times, and the clock moves on; until this time.
    pub(super) live: Option<i64>,
    pub(super) fresh: Option<u32>,
}

impl Site {
    pub(super) fn new(channels: Vec<Channel>, cut: Cut, late: i64, now: i64) -> Self {
        let kept = Arc::new(Kept::for_tests(late));
        let (messages, sent, clock) = (Vec::new(), Sent::default(), Clock::utc());
        Self { channels, cut, clock, kept, messages, sent, now, next: 0 }
    }

    fn stream(&self) -> Stream {
        let columns = (self.cut.ticks.next_power_of_two() * self.channels.len() as u32).next_power_of_two();
        let layout =
            Layout::smallest(self.channels.clone(), self.cut.ticks, columns, 1, Encoding::Resolution)
                .unwrap();
        let encryption = Encryption::Ciphertexts { encryptor: Box::new(Never), header: None };
        Stream { name: "s".into(), layout, encryption, message_bytes: 0 }
    }

    /// Reads rows, and sends windows until the run ends or is killed.
    pub(super) fn run(&mut self, rows: Vec<Row>, how: &How, kill: Kill) -> Result<(Taken, Lost), FillError> {
        let next = self.next;
        self.kept = Arc::new(self.kept.reopen(|_| next));
        let has = how.has.clone().unwrap_or_else(|| vec![true; self.channels.len()]);
        let of_source: Vec<usize> = (0..has.len()).filter(|channel| has[*channel]).collect();
        let row = |row: Row| Row {
            at: row.at,
            values: Zeroizing::new(of_source.iter().map(|channel| row.values[*channel]).collect()),
            missing: of_source.iter().map(|channel| row.missing[*channel]).collect(),
        };
        let present = Present::at(self.now);
        let source = Script {
            channels: of_source.iter().map(|channel| self.channels[*channel].clone()).collect(),
            rows: rows.into_iter().map(row).collect(),
            next: 0,
            left_out: LeftOut::default(),
            paced: how.paced || how.live.is_some(),
            live: how.live.map(|until| Live { present: present.clone(), until }),
        };
        let cuts = Cuts::new(self.clock.clone(), [("s".to_owned(), self.cut)].into());
        let options = Options {
            kept: Some(Arc::clone(&self.kept)),
            most_reports: how.most_reports,
            now: present.clone(),
            fresh: how.fresh,
            correct: how.correct,
            allow_missing: how.allow_missing,
            phase: Some(0),
            ..Options::default()
        };
        let sent = self.sent.clone();
        let mut windows =
            Windows::new(Box::new(source), &[self.stream()], &cuts, |_| sent.clone(), Stop::new(), &options);
        let (mut count, mut pieces) = (0, Vec::new());
        while let Some(Closed { window, .. }) = windows.next_closed()? {
            if kill == Kill::Before(count) {
                break;
            }
            let (number, facts) = (self.next, window.joined.map(|facts| *facts).unwrap_or_default());
            let provisional = facts.provisional;
            let replaces = match facts.ends_pieces {
                true => in_the_place_of(&std::mem::take(&mut pieces), self.channels.len()),
                false => facts.replaces,
            };
            if provisional {
                pieces.push(number);
            }
            if let Some(mut kept) = facts.kept {
                kept.head.numbers.push(number);
                kept.head.sent_at = present.get();
                self.kept.put("s", &kept).unwrap();
            }
            if kill == Kill::Between(count) {
                break;
            }
            let packed = WindowDescription::from(&window.packed);
            let rounded = Some(window.packed.rounded.clone());
            let description = WindowDescription { rounded, replaces, provisional, ..packed };
            description.check().unwrap();
            let contents = Contents::of(&description, window.until);
            for (channel, times) in facts.cleared {
                let runs = self.sent.channels.entry(channel).or_default();
                runs.subtract(&times);
            }
            self.sent.windows.add(
                number,
                (window.packed.start, window.until),
                contents.sent.keys().cloned().collect(),
            );
            for (channel, runs) in contents.sent {
                self.sent.channels.entry(channel).or_default().add(&runs);
            }
            self.sent.until = self.sent.until.max(Some(window.until));
            let slots = window.packed.integers().unwrap().to_vec();
            self.messages.push(Message { number, description, slots, at: present.get() });
            self.next += 1;
            if kill == Kill::After(count) {
                break;
            }
            facts.obsolete.iter().for_each(|start| self.kept.remove("s", *start).unwrap());
            count += 1;
        }
        self.now = how.live.unwrap_or(self.now);
        let taken = windows.taken().into_iter().next().unwrap();
        Ok((taken, windows.lost()))
    }

    /// Loses all but the ticks of the messages.
    pub(super) fn lose_spool(&mut self) {
        self.kept = Arc::new(Kept::for_tests(i64::MAX / 4));
        let until = self.sent.until.unwrap_or_default();
        self.kept.lose_before("s", until, self.channels.len()).unwrap();
    }

    /// Returns what counts of the messages, by ADR 0020.
    pub(super) fn fold(&self) -> Counting {
        let mut numbers = BTreeMap::new();
        let mut pairs = BTreeSet::new();
        for message in &self.messages {
            let Message { description, slots, .. } = message;
            let counts: Vec<u16> =
                (0..self.channels.len() as u16).filter(|channel| self.counts(message, *channel)).collect();
            let presence: Vec<(u16, Presence)> =
                counts.iter().map(|channel| (*channel, description.presence(*channel).unwrap())).collect();
            for (place, (channel, ticks)) in presence.iter().enumerate() {
                for tick in ticks.iter() {
                    let at = description.period.at(description.start, tick);
                    let slot = description.layout.slot(*channel, tick).unwrap();
                    let before = numbers.insert((*channel, at), slots[slot]);
                    assert_eq!(before, None, "tick {at} of channel {channel} counts twice");
                    let others = presence[place + 1..].iter().filter(|(_, ticks)| ticks.contains(tick));
                    pairs.extend(others.map(|(other, _)| (at, *channel, *other)));
                }
            }
        }
        (numbers, pairs)
    }

    /// Returns true if the readings of a message's channel count.
    fn counts(&self, message: &Message, channel: u16) -> bool {
        let replaces = |other: &Message, number: u64| {
            other.description.replaces.as_ref().is_some_and(|Replaces { windows, channels }| {
                windows.contains(&number) && channels.contains(&channel)
            })
        };
        let is_replaced = self.messages.iter().any(|other| replaces(other, message.number));
        // Of two that replace one, the higher number counts.
        let replaced = message.description.replaces.iter().flat_map(|replaces| &replaces.windows);
        let mut replaced = replaced.filter(|number| replaces(message, **number));
        let is_outdone = replaced.any(|number| {
            self.messages.iter().any(|other| other.number > message.number && replaces(other, *number))
        });
        !is_replaced && !is_outdone
    }
}
