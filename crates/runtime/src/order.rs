//! Which steps of a run may start on several threads: as soon as what they read is there, and ahead of the plan's order only as far as
//! memory goes. The first in the plan is granted it first; which thread takes it when is for the pool.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Which steps may start. The first step that has not ended may always: what it reads is there, because steps read only what comes
/// before them. So a run ends whatever the room is, and holds at most what it would hold in the plan's order and this room.
pub(crate) struct Order {
    /// Bytes of each step's result.
    bytes: Vec<u64>,
    /// Bytes that results of steps after the first that has not ended may take.
    room: u64,
    taken: u64,
    ready: BinaryHeap<Reverse<usize>>,
    first: usize,
    ended: Vec<bool>,
    /// Whether a step's result is counted in `taken`.
    ahead: Vec<bool>,
}

impl Order {
    pub(crate) fn new(bytes: Vec<u64>, room: u64) -> Self {
        let none = vec![false; bytes.len()];
        Self { bytes, room, taken: 0, ready: BinaryHeap::new(), first: 0, ended: none.clone(), ahead: none }
    }

    /// What a step reads is there.
    pub(crate) fn ready(&mut self, step: usize) {
        self.ready.push(Reverse(step));
    }

    /// A step that may start now. After a step has ended, or a result is gone, there may be more.
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

    /// A step has ended.
    pub(crate) fn ended(&mut self, step: usize) {
        self.ended[step] = true;
        while self.ended.get(self.first) == Some(&true) {
            self.first += 1;
            self.gone(self.first);
        }
    }

    /// A step's result is gone.
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
