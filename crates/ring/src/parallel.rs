//! Loops over limbs, shared by threads. What is computed does not depend on how many they are: no limb reads what another
//! one writes.

use arrayvec::ArrayVec;

/// From this degree on a limb is work enough to be handed to another thread.
pub const LONG: usize = 1 << 14;
/// No loop is shared by more threads.
pub const MOST_WORKERS: usize = 16;

/// Whether this thread may share its loops.
#[cfg(feature = "threads")]
#[derive(Clone, Copy, PartialEq)]
enum Sharing {
    /// It has not been allowed to.
    Alone,
    Allowed,
    /// It does: while it waits for the others it may be given other work, whose loops are not shared again. So nothing nests.
    Under,
}

#[cfg(feature = "threads")]
thread_local! {
    static SHARING: core::cell::Cell<Sharing> = const { core::cell::Cell::new(Sharing::Alone) };
}

/// Puts back what was, whatever happens.
#[cfg(feature = "threads")]
struct Restore(Sharing);

#[cfg(feature = "threads")]
impl Restore {
    fn after(next: Sharing) -> Self {
        Self(SHARING.replace(next))
    }
}

#[cfg(feature = "threads")]
impl Drop for Restore {
    fn drop(&mut self) {
        SHARING.set(self.0);
    }
}

/// Does work whose loops over long limbs may be shared by the pool that the caller runs in: where other work does not keep its
/// threads busy.
#[cfg(feature = "threads")]
pub fn shared<R>(allowed: bool, work: impl FnOnce() -> R) -> R {
    let next = match SHARING.get() {
        Sharing::Under => Sharing::Under,
        _ if allowed => Sharing::Allowed,
        _ => Sharing::Alone,
    };
    let _restore = Restore::after(next);
    work()
}

/// How many threads share a loop over limbs of this degree: those of the pool that the caller runs in, if it is allowed to share
/// (feature `threads`); 1 elsewhere and for short limbs.
pub fn workers(degree: usize) -> usize {
    #[cfg(feature = "threads")]
    if degree >= LONG && SHARING.get() == Sharing::Allowed && rayon::current_thread_index().is_some() {
        return rayon::current_num_threads().min(MOST_WORKERS);
    }
    let _ = degree;
    1
}

/// Does the work to each item, all of limbs of this degree.
pub fn for_each<T: Send>(degree: usize, items: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
    let mut nothing: ArrayVec<(), MOST_WORKERS> = (0..workers(degree)).map(|_| ()).collect();
    for_each_with(&mut nothing, items, |(), item| work(item));
}

/// The same with what a worker needs: as many as [`workers`] says, one or more. Neighbouring items go to one worker.
pub fn for_each_with<W: Send, T: Send>(
    workers: &mut [W],
    mut items: impl Iterator<Item = T>,
    work: impl Fn(&mut W, T) + Sync,
) {
    match workers {
        [] => assert!(items.next().is_none(), "nobody to work"),
        [alone] => items.for_each(|item| work(alone, item)),
        several => share(several, items.collect(), &work),
    }
}

#[cfg(feature = "threads")]
fn share<W: Send, T: Send>(workers: &mut [W], mut items: Vec<T>, work: &(impl Fn(&mut W, T) + Sync)) {
    let each = items.len().div_ceil(workers.len()).max(1);
    let _restore = Restore::after(Sharing::Under);
    rayon::scope(|scope| {
        for worker in workers {
            let rest = items.split_off(each.min(items.len()));
            let own = core::mem::replace(&mut items, rest);
            scope.spawn(move |_| own.into_iter().for_each(|item| work(worker, item)));
        }
    });
}

#[cfg(not(feature = "threads"))]
fn share<W: Send, T: Send>(workers: &mut [W], items: Vec<T>, work: &(impl Fn(&mut W, T) + Sync)) {
    items.into_iter().for_each(|item| work(&mut workers[0], item));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        for (workers, count) in [(1, 5), (2, 5), (3, 3), (4, 2), (5, 0), (0, 0)] {
            let mut seen = vec![0; count];
            let mut done = vec![0; workers];
            for_each_with(&mut done, seen.iter_mut(), |done, item| {
                *item += 1;
                *done += 1;
            });
            assert!(seen.iter().all(|times| *times == 1), "{workers} {count}");
            assert_eq!(done.iter().sum::<usize>(), count);
        }
    }

    #[test]
    fn outside_a_pool_there_is_one_worker() {
        assert_eq!(workers(1 << 16), 1);
    }
}
