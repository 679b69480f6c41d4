//! Neighbouring registers that are read at once.

use super::file::{ModbusFile, Table};

/// Maximum numbers of registers and of bits in an answer: Modbus application protocol 1.1b3, 6.1 and 6.3.
const MOST_REGISTERS: u16 = 125;
const MOST_BITS: u16 = 2000;

/// Registers of one table that are read at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    pub(super) table: Table,
    pub(super) address: u16,
    pub(super) count: u16,
    /// Positions in the file.
    pub(super) registers: Vec<usize>,
}

/// Returns the requests that read all registers of a file, in the order of addresses.
pub(super) fn batches(file: &ModbusFile) -> Vec<Batch> {
    let mut order: Vec<usize> = (0..file.registers.len()).collect();
    order.sort_by_key(|index| (file.registers[*index].table, file.registers[*index].address));
    let mut batches: Vec<Batch> = Vec::new();
    for index in order {
        let register = &file.registers[index];
        let end = u32::from(register.address) + u32::from(register.kind_of_number.words());
        let most = match register.table {
            Table::Holding | Table::Input => MOST_REGISTERS,
            Table::Coil | Table::Discrete => MOST_BITS,
        };
        match batches.last_mut() {
            Some(last)
                if last.table == register.table
                    && u32::from(register.address)
                        <= u32::from(last.address) + u32::from(last.count) + u32::from(file.gap)
                    && end - u32::from(last.address) <= u32::from(most) =>
            {
                let count = end - u32::from(last.address);
                last.count = last.count.max(u16::try_from(count).unwrap_or(most));
                last.registers.push(index);
            }
            _ => batches.push(Batch {
                table: register.table,
                address: register.address,
                count: register.kind_of_number.words(),
                registers: vec![index],
            }),
        }
    }
    batches
}

impl Batch {
    /// Returns a batch for each of its registers.
    pub(super) fn alone(&self, file: &ModbusFile) -> Vec<Self> {
        let one = |index: &usize| {
            let register = &file.registers[*index];
            Self {
                table: self.table,
                address: register.address,
                count: register.kind_of_number.words(),
                registers: vec![*index],
            }
        };
        self.registers.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(gap: u16, registers: &[(&str, u16, &str)]) -> ModbusFile {
        let mut text = format!("device = 'x'\nhost = 'h'\nevery = '10s'\ngap = {gap}\n");
        for (number, (table, address, kind)) in registers.iter().enumerate() {
            text += &format!("[[register]]\nchannel = 'c{number}'\ntable = '{table}'\naddress = {address}\n");
            if !["coil", "discrete"].contains(table) {
                text += &format!("type = '{kind}'\n");
            }
        }
        ModbusFile::parse(&text).unwrap()
    }

    #[test]
    fn neighbours_are_read_at_once() {
        let found = |gap, registers: &[(&str, u16, &str)]| -> Vec<(u16, u16)> {
            batches(&file(gap, registers)).iter().map(|batch| (batch.address, batch.count)).collect()
        };
        let near =
            [("holding", 10, "u16"), ("holding", 11, "f32"), ("holding", 15, "u16"), ("input", 13, "u16")];
        assert_eq!(found(0, &near), [(10, 3), (15, 1), (13, 1)]);
        assert_eq!(found(2, &near), [(10, 6), (13, 1)]);
        assert_eq!(found(0, &[("holding", 5, "u16"), ("holding", 4, "u32")]), [(4, 2)], "they may overlap");
        assert_eq!(
            found(200, &[("holding", 0, "u16"), ("holding", 124, "u16"), ("holding", 125, "u16")]),
            [(0, 125), (125, 1)]
        );
        assert_eq!(found(0, &[("coil", 7, ""), ("coil", 8, "")]), [(7, 2)]);
    }

    proptest! {
        #[test]
        fn every_register_is_in_one_answer(
            gap in 0_u16..200,
            registers in prop::collection::vec(
                (prop::sample::select(vec!["holding", "input", "coil"]), 0_u16..65_530, prop::sample::select(vec!["u16", "f32", "u64"])),
                1..60,
            ),
        ) {
            let file = file(gap, &registers);
            let batches = batches(&file);
            let mut seen = vec![0; registers.len()];
            for batch in &batches {
                let most = if batch.table == Table::Coil { MOST_BITS } else { MOST_REGISTERS };
                prop_assert!(batch.count <= most);
                for index in &batch.registers {
                    let register = &file.registers[*index];
                    seen[*index] += 1;
                    prop_assert!(register.table == batch.table && register.address >= batch.address);
                    let end = u32::from(register.address) + u32::from(register.kind_of_number.words());
                    prop_assert!(end <= u32::from(batch.address) + u32::from(batch.count));
                }
            }
            prop_assert!(seen.iter().all(|count| *count == 1));
        }
    }
}
