//! The peak of this process's memory.

/// Returns the peak of resident memory in bytes, code included. None if the system does not report it; Linux does.
pub(crate) fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    peak_of(&status)
}

fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_the_line_of_that_name() {
        assert_eq!(peak_of("Name:\tx\nVmPeak:\t  9 kB\nVmHWM:\t    1234 kB\n"), Some(1234 * 1024));
        assert_eq!(peak_of("VmHWM:\t  many kB\n"), None);
        assert_eq!(peak_of("VmHWM:\t  99999999999999999999 kB"), None);
        assert_eq!(peak_of(""), None);
    }
}
