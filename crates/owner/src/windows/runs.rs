//! Numbers of windows as runs.

/// Returns the runs of neighbouring numbers in their order: the first of each, and how many there are.
pub(crate) fn runs(numbers: impl IntoIterator<Item = u64>) -> Vec<(u64, u32)> {
    joined(numbers.into_iter().map(|number| (number, 1)))
}

/// Returns runs of numbers, those that follow each other as one: the first of each, and how many there are.
pub(crate) fn joined(runs: impl IntoIterator<Item = (u64, u32)>) -> Vec<(u64, u32)> {
    let mut joined: Vec<(u64, u32)> = Vec::new();
    for (number, more) in runs {
        let follows = |(first, count): &&mut (u64, u32)| {
            first.checked_add(u64::from(*count)) == Some(number) && count.checked_add(more).is_some()
        };
        match joined.last_mut().filter(follows) {
            Some((_, count)) => *count += more,
            None => joined.push((number, more)),
        }
    }
    joined
}
