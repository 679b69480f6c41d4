//! Entry point and clock of the boards. With `-icount shift=0`, qemu's clocks count instructions.

/// Instructions executed by [`reference`].
pub(crate) const REFERENCE: u32 = 1_000_000;

#[cfg(target_arch = "arm")]
mod arm {
    use core::arch::asm;

    use cortex_m::peripheral::SYST;
    use cortex_m::peripheral::syst::SystClkSource;
    use cortex_m_rt::entry;

    #[entry]
    fn main() -> ! {
        if let Some(mut peripherals) = cortex_m::Peripherals::take() {
            peripherals.SYST.set_clock_source(SystClkSource::Core);
            peripherals.SYST.set_reload(0x00ff_ffff);
            peripherals.SYST.clear_current();
            peripherals.SYST.enable_counter();
        }
        crate::finish()
    }

    /// Returns the ticks of the board's clock, modulo 2^24.
    pub(crate) fn ticks() -> u32 {
        0x00ff_ffff - SYST::get_current()
    }

    /// Runs a loop of two instructions a turn.
    pub(crate) fn count_down(turns: u32) {
        // SAFETY: changes only a register and the flags.
        unsafe { asm!("2:", "subs {0}, {0}, #1", "bne 2b", inout(reg) turns => _) };
    }
}

#[cfg(target_arch = "riscv32")]
mod risc_v {
    use core::arch::asm;

    use riscv_rt::entry;

    #[entry]
    fn main() -> ! {
        crate::finish()
    }

    /// Returns the instructions since the start, modulo 2^24.
    pub(crate) fn ticks() -> u32 {
        riscv::register::minstret::read() as u32 & 0x00ff_ffff
    }

    /// Runs a loop of two instructions a turn.
    pub(crate) fn count_down(turns: u32) {
        // SAFETY: changes only a register.
        unsafe { asm!("2:", "addi {0}, {0}, -1", "bnez {0}, 2b", inout(reg) turns => _) };
    }
}

#[cfg(target_arch = "arm")]
use arm::{count_down, ticks};
#[cfg(target_arch = "riscv32")]
use risc_v::{count_down, ticks};

/// Runs a function; returns the ticks that it took and its result.
pub(crate) fn timed<T>(run: impl FnOnce() -> T) -> (u32, T) {
    let begin = ticks();
    let out = run();
    (ticks().wrapping_sub(begin) & 0x00ff_ffff, out)
}

/// Returns the ticks of a loop of [`REFERENCE`] instructions, since the length of a tick differs between
/// boards.
pub(crate) fn reference() -> u32 {
    timed(|| count_down(REFERENCE / 2)).0
}
