//! Secret values: wiped when they are dropped, and then taken again.

use core::cell::RefCell;
use core::ops::{Deref, DerefMut};
use std::thread::LocalKey;

/// The most words of a type that a thread keeps: 8 MiB.
const MOST_WORDS: usize = 1 << 20;
/// The most vectors of a type that a thread keeps.
const MOST_VECTORS: usize = 32;

/// Shorter vectors cost little.
const LEAST_WORDS: usize = 64;

/// Wiped vectors of one type, all zero.
#[derive(Debug, Default)]
pub struct Pool<T> {
    vectors: Vec<Vec<T>>,
    words: usize,
}

/// 64-bit words.
pub trait Word: Copy + Default + 'static {
    /// This thread's pool of them.
    fn pool() -> &'static LocalKey<RefCell<Pool<Self>>>;
}

macro_rules! words {
    ($($word:ty),*) => {$(
        impl Word for $word {
            fn pool() -> &'static LocalKey<RefCell<Pool<Self>>> {
                thread_local! {
                    static POOL: RefCell<Pool<$word>> = const { RefCell::new(Pool { vectors: Vec::new(), words: 0 }) };
                }
                &POOL
            }
        }
    )*};
}
words!(u64, i64, f64);

/// A vector that is wiped when it is dropped. Its memory stays with the thread: what goes back to the operating system comes as
/// fresh pages, which cost more than what is computed in them.
#[derive(Default)]
pub struct Wiped<T: Word>(Vec<T>);

impl<T: Word> Wiped<T> {
    /// So many zeros.
    pub fn zeros(length: usize) -> Self {
        let take = |pool: &RefCell<Pool<T>>| {
            let mut pool = pool.borrow_mut();
            let index = pool.vectors.iter().position(|vector| vector.len() == length)?;
            pool.words -= length;
            Some(pool.vectors.swap_remove(index))
        };
        // A thread that ends has no pool any more.
        let pooled = T::pool().try_with(take).ok().flatten();
        Self(pooled.unwrap_or_else(|| vec![T::default(); length]))
    }

    /// A copy.
    pub fn copy(values: &[T]) -> Self {
        let mut copy = Self::zeros(values.len());
        copy.copy_from_slice(values);
        copy
    }

    /// The values, not wiped any more.
    pub fn into_inner(mut self) -> Vec<T> {
        core::mem::take(&mut self.0)
    }
}

impl<T: Word> From<Vec<T>> for Wiped<T> {
    fn from(values: Vec<T>) -> Self {
        Self(values)
    }
}

impl<T: Word> Deref for Wiped<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Word> DerefMut for Wiped<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Word> Drop for Wiped<T> {
    fn drop(&mut self) {
        let mut values = core::mem::take(&mut self.0);
        wipe(&mut values);
        if values.len() < LEAST_WORDS {
            return;
        }
        let _ = T::pool().try_with(|pool| {
            let mut pool = pool.borrow_mut();
            if pool.vectors.len() < MOST_VECTORS && pool.words + values.len() <= MOST_WORDS {
                pool.words += values.len();
                pool.vectors.push(values);
            }
        });
    }
}

/// Gives what this thread keeps back to the allocator.
pub fn release() {
    fn clear<T: Word>() {
        let _ = T::pool().try_with(|pool| *pool.borrow_mut() = Pool { vectors: Vec::new(), words: 0 });
    }
    clear::<u64>();
    clear::<i64>();
    clear::<f64>();
}

/// Overwrites with zeros, and keeps the compiler from leaving that out.
pub fn wipe<T: Copy + Default>(values: &mut [T]) {
    values.fill(T::default());
    zeroize::optimization_barrier(values);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_from_the_pool_is_zero() {
        for round in 0..5u64 {
            let mut some = [Wiped::<u64>::zeros(100), Wiped::zeros(100), Wiped::zeros(7)];
            for values in &mut some {
                assert!(values.iter().all(|x| *x == 0));
                values.fill(round + 1);
            }
            let [first, ..] = some;
            assert_eq!(first.into_inner(), [round + 1; 100]);
            assert_eq!(*Wiped::copy(&[round; 100]), [round; 100]);
        }
        let kept: usize = u64::pool().with(|pool| pool.borrow().vectors.iter().map(Vec::len).sum());
        assert_eq!(kept, u64::pool().with(|pool| pool.borrow().words));
        let many: Vec<Wiped<u64>> = (0..100).map(|_| Wiped::zeros(64)).collect();
        drop(many);
        assert!(u64::pool().with(|pool| pool.borrow().vectors.len()) <= MOST_VECTORS);
        release();
        assert_eq!(u64::pool().with(|pool| pool.borrow().vectors.len()), 0);
    }
}
