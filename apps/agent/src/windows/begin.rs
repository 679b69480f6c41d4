//! The windows of a run, before its first row.

use std::collections::VecDeque;
use std::sync::Arc;

use sotto_pack::Channel;

use super::ahead::Ahead;
use super::fed::{StreamFacts, later, phase};
use super::filling::Filling;
use super::lost::FirstLost;
use super::options::Options;
use super::ticks::TickRules;
use super::timer::Timer;
use super::{MOST_PACED, MOST_REPORTS, MOST_SLOTS, OVERHEAD, Rules, Windows};
use crate::progress::Progress;
use crate::source::Source;
use crate::spool::kept::Kept;
use crate::spool::{Cuts, Sent};
use crate::stop::Stop;
use crate::streams::Stream;

impl Windows {
    /// Fills the windows of those streams of which the source has a channel. `sent` returns the ticks that earlier runs of a
    /// stream have sent.
    #[must_use]
    pub fn new(
        source: Box<dyn Source>,
        streams: &[Stream],
        cuts: &Cuts,
        sent: impl Fn(&str) -> Sent,
        stop: Stop,
        options: &Options,
    ) -> Self {
        let (channels, paced) = (source.channels().to_vec(), source.paced());
        let slots = streams.iter().map(|stream| stream.layout.slots() + OVERHEAD).sum::<usize>().max(1);
        let open = (options.most_slots.unwrap_or(MOST_SLOTS) / slots).max(2);
        let open = if paced { open.min(MOST_PACED) } else { open };
        let is_joined = |stream: &&Stream| options.correct || stream.is_joined();
        let joined = streams.iter().filter(is_joined).count().max(1);
        let reports = (options.most_reports.unwrap_or(MOST_REPORTS) / joined).max(1);
        let others = streams.iter().filter(|stream| !is_joined(stream)).map(|stream| stream.layout.slots());
        // A reading that waits takes the memory of two slots.
        let spare = open.saturating_mul(others.sum()) / 2 / joined;
        let facts = |(position, stream): (usize, &Stream)| {
            let cut = cuts.of(&stream.name)?;
            let of = |wanted: &Channel| channels.iter().position(|channel| channel.name == wanted.name);
            let columns: Vec<Option<usize>> = stream.layout.channels().iter().map(of).collect();
            let is_fed = columns.iter().any(Option::is_some);
            let sampled = options.own_period.is_some_and(|own| own < cut.period);
            let (keep_clear, now) = (options.keep_clear, options.now.clone());
            let rules = Rules { open, paced, sampled, keep_clear, reports, now };
            let sent = sent(&stream.name);
            let (cut, phase) = later(cut, phase(stream, cut, cuts.clock(), &sent, options));
            let ticks = TickRules::new(stream.layout.channels(), cut, phase);
            let (name, layout, is_joined) = (stream.name.clone(), stream.layout.clone(), stream.is_joined());
            is_fed.then_some(StreamFacts {
                position,
                name,
                layout,
                is_joined,
                cut,
                columns,
                rules,
                ticks,
                sent,
            })
        };
        let facts: Vec<StreamFacts> = streams.iter().enumerate().filter_map(facts).collect();
        let shortest =
            facts.iter().map(|facts| facts.cut.period).min().map_or(1, |period| i64::from(period.ceil()));
        let timer = paced.then(|| Timer::new(options, shortest));
        let (kept, clock, correct) = (options.kept.clone(), cuts.clock().clone(), options.correct);
        let make = move |kept: Option<Arc<Kept>>| -> Vec<Filling> {
            facts.iter().map(|facts| facts.filling(&clock, kept.as_ref(), correct)).collect()
        };
        // A correction is made in memory first, to see which readings it lacks.
        let first = if correct { kept.as_ref().map(|kept| Arc::new(kept.in_memory())) } else { kept.clone() };
        let streams = make(first);
        Self {
            source,
            clock: cuts.clock().clone(),
            given: vec![false; streams.len()],
            streams,
            anew: correct
                .then(|| Box::new(move || make(kept.clone())) as Box<dyn Fn() -> Vec<Filling> + Send>),
            allow_missing: options.allow_missing,
            ahead: Ahead::new(options),
            timer,
            lost: FirstLost::default(),
            stop,
            end: None,
            once: options.once,
            closed: VecDeque::new(),
            channels,
            rows: 0,
            windows: 0,
            passes: 1,
            again: false,
            spare,
            progress: if options.quiet { Progress::none() } else { Progress::on_terminal() },
        }
    }
}
