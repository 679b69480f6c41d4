//! Secret vectors: wiped on drop, their memory reused from a per-thread pool.

use alloc::vec::Vec;
#[cfg(feature = "std")]
use core::cell::RefCell;
use core::ops::{Deref, DerefMut};
#[cfg(feature = "std")]
use std::thread::LocalKey;

use aligned_vec::{AVec, ConstAlign};

/// Alignment of vectors in bytes, so that loads of any width stay within a cache line. The allocator's memory starts 16
/// bytes after the start of a page, and a transform on it takes a third longer.
const ALIGNMENT: usize = 64;

type Aligned<T> = AVec<T, ConstAlign<ALIGNMENT>>;

/// Maximum number of words of one type that a thread keeps: 8 MiB.
#[cfg(feature = "std")]
const MOST_WORDS: usize = 1 << 20;
/// Maximum number of vectors of one type that a thread keeps.
#[cfg(feature = "std")]
const MOST_VECTORS: usize = 32;

/// Minimum length of a vector to keep; shorter ones are cheap to allocate.
#[cfg(feature = "std")]
const LEAST_WORDS: usize = 64;

/// Zeroed vectors of one type.
///
/// Example: [`Wiped`]
#[cfg(feature = "std")]
#[derive(Debug, Default)]
pub struct Pool<T> {
    vectors: Vec<Aligned<T>>,
    words: usize,
}

/// A 64-bit word type.
///
/// Example: [`Wiped`]
pub trait Word: Copy + Default + 'static {
    /// Returns this thread's pool for the type.
    #[cfg(feature = "std")]
    fn pool() -> &'static LocalKey<RefCell<Pool<Self>>>;
}

macro_rules! words {
    ($($word:ty),*) => {$(
        impl Word for $word {
            #[cfg(feature = "std")]
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

/// Takes a vector of this length from the thread's pool: the one kept last, which the processor's caches may still hold.
#[cfg(feature = "std")]
fn pooled<T: Word>(length: usize) -> Option<Aligned<T>> {
    let take = |pool: &RefCell<Pool<T>>| {
        let mut pool = pool.borrow_mut();
        let index = pool.vectors.iter().rposition(|vector| vector.len() == length)?;
        pool.words -= length;
        Some(pool.vectors.remove(index))
    };
    // The pool no longer exists while its thread ends.
    T::pool().try_with(take).ok().flatten()
}

/// Gives a wiped vector to the thread's pool, or frees it if the pool is full.
#[cfg(feature = "std")]
fn keep<T: Word>(values: Aligned<T>) {
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

/// Without `std` there are no pools.
#[cfg(not(feature = "std"))]
fn pooled<T: Word>(_: usize) -> Option<Aligned<T>> {
    None
}

#[cfg(not(feature = "std"))]
fn keep<T: Word>(_: Aligned<T>) {}

/// A vector that is wiped on drop. The thread keeps its memory for reuse: memory returned to the operating system comes
/// back as fresh pages, which cost more than the computation in them.
///
/// ```
/// use sotto_kernels::{Wiped, Word};
///
/// fn buffer<T: Word>(length: usize) -> Wiped<T> {
///     Wiped::zeros(length)
/// }
/// let mut secret = buffer::<i64>(64);
/// secret[0] = 215;
/// drop(secret);
/// // The memory is reused, and holds nothing of it.
/// assert!(buffer::<i64>(64).iter().all(|word| *word == 0));
/// ```
pub struct Wiped<T: Word>(Aligned<T>);

impl<T: Word> Default for Wiped<T> {
    fn default() -> Self {
        Self(AVec::new(ALIGNMENT))
    }
}

impl<T: Word> Wiped<T> {
    /// Returns a vector of zeros.
    pub fn zeros(length: usize) -> Self {
        let new = || {
            let mut words = AVec::with_capacity(ALIGNMENT, length);
            words.resize(length, T::default());
            words
        };
        Self(pooled(length).unwrap_or_else(new))
    }

    /// Copies the values, which stay unwiped where they are.
    pub fn copy(values: &[T]) -> Self {
        let mut copy = Self::zeros(values.len());
        copy.copy_from_slice(values);
        copy
    }
}

impl<T: Word> From<Vec<T>> for Wiped<T> {
    /// Copies the values and wipes the source.
    fn from(mut values: Vec<T>) -> Self {
        let copy = Self::copy(&values);
        wipe(&mut values);
        copy
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
        let mut values = core::mem::replace(&mut self.0, AVec::new(ALIGNMENT));
        wipe(&mut values);
        keep(values);
    }
}

/// Frees this thread's pooled vectors.
#[cfg(feature = "std")]
pub fn release() {
    fn clear<T: Word>() {
        let _ = T::pool().try_with(|pool| *pool.borrow_mut() = Pool { vectors: Vec::new(), words: 0 });
    }
    clear::<u64>();
    clear::<i64>();
    clear::<f64>();
}

/// Without `std` nothing is pooled.
#[cfg(not(feature = "std"))]
pub fn release() {}

/// Overwrites with zeros in a way that the compiler does not remove.
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
            let aligned = |values: &Wiped<u64>| values.as_ptr().addr().is_multiple_of(ALIGNMENT);
            assert!(some.iter().all(aligned));
            assert_eq!(*Wiped::copy(&[round; 100]), [round; 100]);
            assert_eq!(*Wiped::from(vec![round; 5]), [round; 5]);
        }
        let kept: usize =
            u64::pool().with(|pool| pool.borrow().vectors.iter().map(|words| words.len()).sum());
        assert_eq!(kept, u64::pool().with(|pool| pool.borrow().words));
        let many: Vec<Wiped<u64>> = (0..100).map(|_| Wiped::zeros(64)).collect();
        drop(many);
        assert!(u64::pool().with(|pool| pool.borrow().vectors.len()) <= MOST_VECTORS);
        release();
        assert_eq!(u64::pool().with(|pool| pool.borrow().vectors.len()), 0);
    }
}
