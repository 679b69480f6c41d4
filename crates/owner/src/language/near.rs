//! Spelling suggestions.

/// Returns the candidate with the smallest edit distance from `word`. Returns None if the distance exceeds 2 or is half
/// of the word or more.
pub(crate) fn near<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    const LONGEST: usize = 32;
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let distances =
        candidates.iter().map(|candidate| (distance(lower.as_bytes(), candidate.as_bytes()), *candidate));
    let (distance, nearest) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= 2 && 2 * distance < word.len().max(3)).then_some(nearest)
}

/// Returns the number of insertions, deletions, substitutions and swaps of neighbours between two words. O(n·m).
fn distance(left: &[u8], right: &[u8]) -> usize {
    let mut before = vec![0; right.len() + 1];
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for i in 1..=left.len() {
        let mut next = vec![i; right.len() + 1];
        for j in 1..=right.len() {
            let differs = usize::from(left[i - 1] != right[j - 1]);
            next[j] = (row[j] + 1).min(next[j - 1] + 1).min(row[j - 1] + differs);
            let swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if swapped {
                next[j] = next[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_the_known_ones() {
        for (left, right, expected) in
            [("", "", 0), ("", "ab", 2), ("meen", "mean", 1), ("maen", "mean", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(left.as_bytes(), right.as_bytes()), expected, "{left} {right}");
            assert_eq!(distance(right.as_bytes(), left.as_bytes()), expected, "{right} {left}");
        }
    }

    #[test]
    fn only_near_words_are_offered() {
        let words = ["mean", "sum", "stddev", "by"];
        assert_eq!(near("meen", &words), Some("mean"));
        assert_eq!(near("MEAN", &words), Some("mean"));
        assert_eq!(near("sun", &words), Some("sum"));
        assert_eq!(near("stdev", &words), Some("stddev"));
        assert_eq!(near("xyz", &words), None);
        assert_eq!(near("", &words), None);
        assert_eq!(near(&"mean".repeat(20), &words), None);
    }
}
