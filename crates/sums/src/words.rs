//! The words of key streams.

#[cfg(any(test, not(target_pointer_width = "64")))]
mod narrow;
#[cfg(target_pointer_width = "64")]
mod wide;

#[cfg(not(target_pointer_width = "64"))]
pub(crate) use narrow::Words;
#[cfg(target_pointer_width = "64")]
pub(crate) use wide::Words;

/// Words of a block of key stream.
pub(crate) const BLOCK_WORDS: usize = 16;
/// The first words of a state (RFC 8439, section 2.3).
#[cfg(any(test, feature = "alloc", not(target_pointer_width = "64")))]
pub(crate) const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Returns the nonce as words: pad number (8 bytes) ‖ part (4), little-endian.
pub(crate) fn nonce(number: u64, part: u32) -> [u32; 3] {
    [number as u32, (number >> 32) as u32, part]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;

    #[test]
    fn any_order_reads_the_same_words() {
        let key = Key::from_bytes([7; 32]);
        let mut forwards = key.words(3, 1, 200);
        let words: [u32; 200] = core::array::from_fn(|index| forwards.word(index));
        for count in [1, 16, 17, 200] {
            let (mut wide, mut narrow) =
                (key.words(3, 1, count), narrow::Words::new(key.bytes(), 3, 1, count));
            for index in (0..200).rev().chain([5, 190, 64, 63, 0, 128]) {
                assert_eq!(wide.word(index), words[index], "word {index}");
                assert_eq!(narrow.word(index), words[index], "word {index} on a small core");
            }
        }
        assert_ne!(key.words(3, 2, 1).word(0), words[0]);
        assert_ne!(key.words(4, 1, 1).word(0), words[0]);
    }

    #[test]
    fn residues_are_those_of_both_kinds_of_core() {
        let key = Key::from_bytes(core::array::from_fn(|index| 255 - index as u8));
        for (number, part) in [(0, 0), (u64::MAX, 1), (0x0123_4567_89ab_cdef, u32::MAX)] {
            let mut wide = key.words(number, part, 2 * 33);
            let mut narrow = narrow::Words::new(key.bytes(), number, part, 2 * 33);
            for index in 0..33 {
                assert_eq!(narrow.residue(index).value(), wide.residue(index).value(), "residue {index}");
            }
        }
    }

    #[test]
    fn words_are_those_of_rfc_8439() {
        // Section 2.4.2: key 0 … 31, counter 1.
        let key = Key::from_bytes(core::array::from_fn(|index| index as u8));
        // The nonce 00 00 00 00 00 00 00 4a 00 00 00 00.
        let (number, part) = (0x4a00_0000_0000_0000, 0);
        assert_eq!(key.words(number, part, 32).word(BLOCK_WORDS), 0xf351_4f22);
        // The whole state that this section shows.
        let expected = [
            0xf351_4f22,
            0xe1d9_1b40,
            0x6f27_de2f,
            0xed1d_63b8,
            0x821f_138c,
            0xe206_2c3d,
            0xecca_4f7e,
            0x78cf_f39e,
            0xa30a_3b8a,
            0x920a_6072,
            0xcd74_79b5,
            0x3493_2bed,
            0x40ba_4c79,
            0xcd34_3ec6,
            0x4c2c_21ea,
            0xb741_7df0,
        ];
        let mut narrow = narrow::Words::new(key.bytes(), number, part, 32);
        for (at, word) in expected.iter().enumerate() {
            assert_eq!(narrow.word(BLOCK_WORDS + at), *word, "word {at}");
        }
    }
}
