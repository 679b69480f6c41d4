//! How deep the stack went: memory below it is painted before, and looked at afterwards.

use core::hint::black_box;
use core::ptr;

/// Bytes that are painted: the boards' stacks have more.
const PAINTED: usize = 8192;
/// More than a frame of this module takes.
const OWN: usize = 128;
const PAINT: u8 = 0xa5;

/// Painted memory.
pub(crate) struct Painted {
    bottom: usize,
}

/// Paints the stack that the caller's next call will use.
#[inline(never)]
pub(crate) fn paint() -> Painted {
    let local = 0u8;
    let top = black_box(ptr::from_ref(&local)) as usize - OWN;
    for at in top - PAINTED..top {
        // SAFETY: this is the stack's own memory, below every frame that is in use: the linker's script leaves more than this to it.
        unsafe { ptr::write_volatile(at as *mut u8, PAINT) };
    }
    Painted { bottom: top - PAINTED }
}

impl Painted {
    /// Bytes of the stack that were used since, to within 128.
    pub(crate) fn used(&self) -> u32 {
        let mut at = self.bottom;
        // SAFETY: as above; every byte that is read was painted or written since.
        while at < self.bottom + PAINTED && unsafe { ptr::read_volatile(at as *const u8) } == PAINT {
            at += 1;
        }
        (self.bottom + PAINTED + OWN - at) as u32
    }
}
