//! Loops over limbs, shared by threads. The result does not depend on the number of threads: no limb reads data that
//! another limb writes.

#[cfg(feature = "threads")]
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use arrayvec::ArrayVec;

/// Words of one part of rows: see [`for_each_part`].
pub const PART: usize = 256;
/// Maximum number of rows of [`for_each_part`].
pub const MOST_ROWS: usize = 96;

/// The degree from which a limb is enough work to hand to another thread.
pub const LONG: usize = 1 << 14;
/// Maximum number of threads that share a loop.
pub const MOST_WORKERS: usize = 16;

/// The permission of this thread to share its loops.
#[cfg(feature = "threads")]
#[derive(Clone, Copy, PartialEq)]
enum Sharing {
    /// The thread may not share.
    Alone,
    Allowed,
    /// The thread is sharing a loop. While it waits for the others, the pool may give it other work, whose loops are
    /// not shared: nothing nests.
    Under,
}

#[cfg(feature = "threads")]
thread_local! {
    static SHARING: core::cell::Cell<Sharing> = const { core::cell::Cell::new(Sharing::Alone) };
}

/// Restores the previous permission on drop, also after a panic.
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

/// Runs `work`, whose loops over long limbs may be shared by the pool that the caller runs in. Allow it if other work
/// does not keep the pool's threads busy.
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

/// Returns the number of threads that share a loop over limbs of this degree: the size of the caller's pool (at most
/// [`MOST_WORKERS`]) if sharing is allowed (feature `threads`) and the limbs are long, else 1.
pub fn workers(degree: usize) -> usize {
    #[cfg(feature = "threads")]
    if degree >= LONG && SHARING.get() == Sharing::Allowed && rayon::current_thread_index().is_some() {
        return rayon::current_num_threads().min(MOST_WORKERS);
    }
    let _ = degree;
    1
}

/// Makes one value for each of the [`workers`].
pub fn for_workers<W>(degree: usize, mut new: impl FnMut() -> W) -> ArrayVec<W, MOST_WORKERS> {
    (0..workers(degree)).map(|_| new()).collect()
}

/// Runs the work on each item. All items are limbs of this degree.
pub fn for_each<T: Send>(degree: usize, items: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
    for_each_with(&mut for_workers(degree, || ()), items, |(), item| work(item));
}

/// Like [`for_each`], with a state for each worker, of which there is at least one. Neighbouring items go to the same
/// worker.
pub fn for_each_with<W: Send, T: Send>(
    workers: &mut [W],
    mut items: impl Iterator<Item = T>,
    work: impl Fn(&mut W, T) + Sync,
) {
    match workers {
        [] => assert!(items.next().is_none(), "at least one worker is needed"),
        [alone] => items.for_each(|item| work(alone, item)),
        several => share(several, items.collect(), &work),
    }
}

/// Runs the work on rows part by part: [`PART`] words of each row, or fewer at the end, so that work on several rows
/// stays in the cache even for long rows. `workers` is as in [`for_each_with`]. `work` receives the index range of the
/// part; the range of the next part, to be prefetched if rows are [`LONG`], else empty; and the part's rows, at most
/// [`MOST_ROWS`].
pub fn for_each_part<W: Send>(
    workers: &mut [W],
    degree: usize,
    rows: &mut [&mut [u64]],
    work: impl Fn(&mut W, [Range<usize>; 2], &mut [&mut [u64]]) + Sync,
) {
    assert!(!workers.is_empty(), "at least one worker is needed");
    let each = degree.div_ceil(workers.len()).next_multiple_of(PART);
    if each >= degree {
        return parts(0..degree, rows, degree >= LONG, |part, rows| work(&mut workers[0], part, rows));
    }
    let mut groups: Vec<Vec<&mut [u64]>> = Vec::new();
    for row in rows {
        for (i, words) in row[..degree].chunks_mut(each).enumerate() {
            if i == groups.len() {
                groups.push(Vec::new());
            }
            groups[i].push(words);
        }
    }
    for_each_with(workers, groups.into_iter().enumerate(), |worker, (i, mut rows)| {
        let words = i * each..degree.min((i + 1) * each);
        parts(words, &mut rows, degree >= LONG, |part, rows| work(worker, part, rows));
    });
}

/// Runs the work part by part, on rows that begin with the first of these words.
fn parts(
    words: Range<usize>,
    rows: &mut [&mut [u64]],
    ahead: bool,
    mut work: impl FnMut([Range<usize>; 2], &mut [&mut [u64]]),
) {
    for start in words.clone().step_by(PART) {
        let end = words.end.min(start + PART);
        let next = if ahead { end..words.end.min(end + PART) } else { end..end };
        let own = start - words.start..end - words.start;
        let mut rows: ArrayVec<&mut [u64], MOST_ROWS> =
            rows.iter_mut().map(|row| &mut row[own.clone()]).collect();
        work([start..end, next], &mut rows);
    }
}

#[cfg(feature = "threads")]
fn share<W: Send, T: Send>(workers: &mut [W], mut items: Vec<T>, work: &(impl Fn(&mut W, T) + Sync)) {
    let each = items.len().div_ceil(workers.len()).max(1);
    let mut tasks: Vec<Task<'_>> = Vec::with_capacity(workers.len());
    for worker in workers {
        let rest = items.split_off(each.min(items.len()));
        let own = core::mem::replace(&mut items, rest);
        tasks.push(Box::new(move || own.into_iter().for_each(|item| work(worker, item))));
    }
    run(tasks);
}

#[cfg(feature = "threads")]
type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs the tasks in the caller's pool. Not generic, so that rayon's code is compiled once and not for every loop.
#[cfg(feature = "threads")]
fn run(tasks: Vec<Task<'_>>) {
    let _restore = Restore::after(Sharing::Under);
    rayon::scope(|scope| tasks.into_iter().for_each(|task| scope.spawn(move |_| task())));
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
    fn every_part_of_every_row_is_worked_on_once() {
        for (workers, degree) in
            [(1, 8), (1, PART + 8), (2, PART), (2, 3 * PART), (3, 4 * PART + 8), (5, 2 * PART)]
        {
            let mut rows = vec![vec![0; degree]; 3];
            let mut slices: Vec<&mut [u64]> = rows.iter_mut().map(Vec::as_mut_slice).collect();
            let mut done = vec![0; workers];
            for_each_part(&mut done, degree, &mut slices, |done, [part, next], rows| {
                assert!(next.is_empty() || (next.start == part.end && next.end <= degree));
                *done += part.len();
                for (i, row) in rows.iter_mut().enumerate() {
                    assert!(row.len() == part.len() && row.len() <= PART);
                    row.iter_mut().zip(part.clone()).for_each(|(word, at)| *word += (i * degree + at) as u64);
                }
            });
            assert!(rows.iter().flatten().copied().eq(0..3 * degree as u64), "{workers} {degree}");
            assert_eq!(done.iter().sum::<usize>(), degree);
        }
    }

    #[test]
    fn outside_a_pool_there_is_one_worker() {
        assert_eq!(workers(1 << 16), 1);
    }
}
