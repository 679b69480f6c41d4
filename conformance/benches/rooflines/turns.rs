//! Operations done over again by their kernels alone, in their own order, on buffers of their own sizes, each call timed where it
//! stands: it finds in the cache what it finds there in the operation. Timed by itself a kernel finds more, as far as others leave
//! the cache to this processor.

use std::time::{Duration, Instant};

use crate::parts::Roofline;

/// Times of parts by name, round by round.
#[derive(Default)]
pub(crate) struct Turns(Vec<Part>);

#[derive(Default)]
struct Part {
    name: &'static str,
    /// Calls of all rounds.
    count: usize,
    /// Microseconds of this round.
    time: f64,
    rounds: Vec<f64>,
}

impl Turns {
    /// A call.
    pub(crate) fn part<T>(&mut self, name: &'static str, run: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = run();
        let time = begin.elapsed().as_secs_f64() * 1e6;
        let index = self.0.iter().position(|part| part.name == name).unwrap_or_else(|| {
            self.0.push(Part { name, ..Part::default() });
            self.0.len() - 1
        });
        self.0[index].count += 1;
        self.0[index].time += time;
        result
    }

    /// Does the operation over again, round by round, and reports the median of each part's rounds.
    pub(crate) fn rounds(r: &mut Roofline, mut operation: impl FnMut(&mut Self)) {
        let (mut turns, start) = (Self::default(), Instant::now());
        for round in 0..2000 {
            if round >= 15 && start.elapsed() > Duration::from_millis(300) {
                break;
            }
            operation(&mut turns);
            for part in &mut turns.0 {
                part.rounds.push(core::mem::take(&mut part.time));
            }
        }
        turns.report(r);
    }

    fn report(self, r: &mut Roofline) {
        for mut part in self.0 {
            let count = part.count / part.rounds.len();
            part.rounds.sort_by(f64::total_cmp);
            r.add(part.name, count, part.rounds[part.rounds.len() / 2] / count as f64);
        }
    }
}
