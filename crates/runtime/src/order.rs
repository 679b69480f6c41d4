//! The order in which steps start on several threads. A step may start once its operands exist; it may run ahead of the
//! plan's order only as far as memory allows. The pool decides which thread runs it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The steps that may start, the earliest in the plan first.
///
/// The first step that has not ended may always start: its operands exist, because steps read only earlier results. So
/// every run ends, and it holds at most the peak of the plan's order plus `room`.
pub(crate) struct Order {
    /// Bytes of each step's result.
    bytes: Vec<u64>,
    /// Bytes allowed for results of steps after the first step that has not ended.
    room: u64,
    taken: u64,
    ready: BinaryHeap<Reverse<usize>>,
    first: usize,
    ended: Vec<bool>,
    /// For each step, true if `taken` includes its result.
    ahead: Vec<bool>,
}

impl Order {
    pub(crate) fn new(bytes: Vec<u64>, room: u64) -> Self {
        let none = vec![false; bytes.len()];
        Self { bytes, room, taken: 0, ready: BinaryHeap::new(), first: 0, ended: none.clone(), ahead: none }
    }

    /// Marks a step whose operands exist.
    pub(crate) fn ready(&mut self, step: usize) {
        self.ready.push(Reverse(step));
    }

    /// Returns a step that may start now; None if there is none. Ask again after a step has ended or a result is freed.
    pub(crate) fn start(&mut self) -> Option<usize> {
        let Reverse(step) = *self.ready.peek()?;
        if step != self.first {
            let taken = self.taken.saturating_add(self.bytes[step]);
            if taken > self.room {
                return None;
            }
            self.taken = taken;
            self.ahead[step] = true;
        }
        self.ready.pop();
        Some(step)
    }

    /// Marks a step as ended.
    pub(crate) fn ended(&mut self, step: usize) {
        self.ended[step] = true;
        while self.ended.get(self.first) == Some(&true) {
            self.first += 1;
            self.gone(self.first);
        }
    }

    /// Marks a step's result as freed.
    pub(crate) fn gone(&mut self, step: usize) {
        if let Some(ahead) = self.ahead.get_mut(step)
            && core::mem::take(ahead)
        {
            self.taken -= self.bytes[step];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(order: &mut Order) -> Vec<usize> {
        std::iter::from_fn(|| order.start()).collect()
    }

    #[test]
    fn steps_start_in_order_and_ahead_of_it_only_as_far_as_memory_goes() {
        let mut order = Order::new(vec![5, 4, 3, 2, 1], 7);
        [4, 2, 0, 1, 3].into_iter().for_each(|step| order.ready(step));
        assert_eq!(started(&mut order), [0, 1, 2]);
        order.ended(2);
        assert_eq!(started(&mut order), Vec::<usize>::new(), "what came out of step 2 is still there");
        order.gone(2);
        assert_eq!(started(&mut order), [3, 4]);
        order.ended(0);
        order.ended(1);
        order.ended(3);
        assert_eq!((order.first, order.taken), (4, 0), "nothing is ahead of the last step");
    }

    #[test]
    fn the_first_step_starts_without_any_room() {
        let mut order = Order::new(vec![u64::MAX; 4], 0);
        (0..4).for_each(|step| order.ready(step));
        for step in 0..4 {
            assert_eq!(started(&mut order), [step]);
            order.ended(step);
        }
        assert_eq!(started(&mut order), Vec::<usize>::new());
    }
}
