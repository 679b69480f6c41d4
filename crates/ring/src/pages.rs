//! Zeroed memory for long buffers, in huge pages of 2 MiB where possible. The system maps a page at its first write;
//! huge pages need 512 times fewer mappings than pages of 4 KiB, and address translation takes fewer steps.

#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
pub(crate) use elsewhere::Pages;
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
pub(crate) use linux::Pages;

#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
mod linux {
    use core::ops::{Deref, DerefMut};

    use memmap2::{Advice, MmapMut};

    /// Bytes of a huge page on x86-64, and on arm64 with small pages of 4 KiB.
    const HUGE_PAGE: usize = 2 << 20;

    /// Words in a separate mapping, from the start of a huge page.
    pub(crate) struct Pages {
        map: MmapMut,
        /// The offset of the first byte in use.
        start: usize,
        length: usize,
        /// The number of words that count as held.
        capacity: usize,
    }

    impl Pages {
        /// Returns this many zeros, or None if they are less than a huge page or the system has no memory. The last
        /// page is huge only if that makes the memory at most an eighth longer, since memory beyond the words is
        /// wasted.
        pub(crate) fn zeros(words: usize) -> Option<Self> {
            let bytes = words.checked_mul(size_of::<u64>()).filter(|bytes| *bytes >= HUGE_PAGE)?;
            let whole = bytes.next_multiple_of(HUGE_PAGE);
            let map = MmapMut::map_anon(whole.checked_add(HUGE_PAGE)?).ok()?;
            let start = map.as_ptr().align_offset(HUGE_PAGE);
            let (huge, held) =
                if whole - bytes <= bytes / 8 { (whole, whole) } else { (whole - HUGE_PAGE, bytes) };
            // A system without huge pages refuses the advice; small pages work as well.
            let _ = map.advise_range(Advice::HugePage, start, huge);
            let _ = map.advise_range(Advice::NoHugePage, start + huge, map.len() - start - huge);
            Some(Self { map, start, length: words, capacity: held / size_of::<u64>() })
        }

        pub(crate) fn capacity(&self) -> usize {
            self.capacity
        }

        /// Sets the length. Panics if it exceeds the capacity. Words that come into use keep their old content.
        pub(crate) fn set_length(&mut self, length: usize) {
            assert!(length <= self.capacity, "longer than its memory");
            self.length = length;
        }
    }

    impl Deref for Pages {
        type Target = [u64];
        fn deref(&self) -> &[u64] {
            bytemuck::cast_slice(&self.map[self.start..][..self.length * size_of::<u64>()])
        }
    }

    impl DerefMut for Pages {
        fn deref_mut(&mut self) -> &mut [u64] {
            bytemuck::cast_slice_mut(&mut self.map[self.start..][..self.length * size_of::<u64>()])
        }
    }
}

#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
mod elsewhere {
    use core::ops::{Deref, DerefMut};

    /// Uninhabited: long buffers come from the allocator like others.
    pub(crate) enum Pages {}

    impl Pages {
        /// Returns None.
        pub(crate) fn zeros(_: usize) -> Option<Self> {
            None
        }

        pub(crate) fn capacity(&self) -> usize {
            match *self {}
        }

        pub(crate) fn set_length(&mut self, _: usize) {
            match *self {}
        }
    }

    impl Deref for Pages {
        type Target = [u64];
        fn deref(&self) -> &[u64] {
            match *self {}
        }
    }

    impl DerefMut for Pages {
        fn deref_mut(&mut self) -> &mut [u64] {
            match *self {}
        }
    }
}

#[cfg(all(test, feature = "std", target_os = "linux", not(miri)))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Pages;

    /// Returns the bytes of memory that this process holds.
    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() << 10
    }

    /// All memory held is counted, with a huge last page and without.
    #[test]
    fn what_is_held_is_the_capacity() {
        const MIB: usize = 1 << 20;
        for bytes in
            [2 * MIB, 2 * MIB + 64, 2 * MIB + MIB / 4, 4 * MIB - MIB / 4, 5 * MIB / 2, 4 * MIB + MIB / 8]
        {
            let before = resident();
            let fill = |_| {
                let mut pages = Pages::zeros(bytes / size_of::<u64>()).unwrap();
                pages.fill(1);
                pages
            };
            let many: Vec<Pages> = (0..64).map(fill).collect();
            let counted: usize = many.iter().map(|pages| pages.capacity() * size_of::<u64>()).sum();
            let held = resident() - before;
            // Other tests hold some megabytes at the same time.
            assert!(
                held < counted + 12 * MIB,
                "{held} bytes are held, {counted} are counted, for {bytes} each"
            );
            assert!(counted <= 64 * (bytes + bytes / 8));
        }
    }
}
