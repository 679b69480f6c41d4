//! Overwriting secrets.

/// Overwrites with zeros, and keeps the compiler from leaving that out.
pub fn wipe<T: Copy + Default>(values: &mut [T]) {
    values.fill(T::default());
    zeroize::optimization_barrier(&*values);
}
