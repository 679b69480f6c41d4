//! Statistics of repeated times.

/// Least, median, mean and deviation of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// The least.
    pub least: f64,
    /// The median; the mean of the two middle times if their number is even.
    pub median: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation of the sample; 0 for a single time.
    pub deviation: f64,
    /// The number of times.
    pub count: usize,
}

impl Statistics {
    /// Computes the statistics. None if there are no times, or a time is negative or not finite.
    pub fn of(times: &[f64]) -> Option<Self> {
        let count = times.len();
        if count == 0 || times.iter().any(|time| !time.is_finite() || *time < 0.0) {
            return None;
        }
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2.0;
        let mean = times.iter().sum::<f64>() / count as f64;
        let squares: f64 = times.iter().map(|time| (time - mean) * (time - mean)).sum();
        let deviation = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
        Some(Self { least: sorted[0], median, mean, deviation, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_one_two_and_many() {
        assert_eq!(Statistics::of(&[]), None);
        assert_eq!(Statistics::of(&[1.0, f64::NAN]), None);
        assert_eq!(Statistics::of(&[1.0, -1.0]), None);
        let one = Statistics { least: 7.0, median: 7.0, mean: 7.0, deviation: 0.0, count: 1 };
        assert_eq!(Statistics::of(&[7.0]), Some(one));
        let two = Statistics { least: 1.0, median: 2.0, mean: 2.0, deviation: 2f64.sqrt(), count: 2 };
        assert_eq!(Statistics::of(&[3.0, 1.0]), Some(two));
        let deviation = 1902.5f64.sqrt();
        let many = Statistics { least: 1.0, median: 3.0, mean: 22.0, deviation, count: 5 };
        assert_eq!(Statistics::of(&[100.0, 1.0, 3.0, 2.0, 4.0]), Some(many));
        let equal = Statistics { least: 5.0, median: 5.0, mean: 5.0, deviation: 0.0, count: 3 };
        assert_eq!(Statistics::of(&[5.0; 3]), Some(equal));
    }
}
