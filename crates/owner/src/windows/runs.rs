//! Numbers of windows as runs.

/// Returns the runs of neighbouring numbers in their order: the first of each, and how many there are.
pub(crate) fn runs(numbers: impl IntoIterator<Item = u64>) -> Vec<(u64, u32)> {
    let mut runs: Vec<(u64, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((first, count)) if first.checked_add(u64::from(*count)) == Some(number) => *count += 1,
            _ => runs.push((number, 1)),
        }
    }
    runs
}
