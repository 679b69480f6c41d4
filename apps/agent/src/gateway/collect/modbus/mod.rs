//! Registers of a device that speaks Modbus-TCP.

mod batches;
mod file;
mod values;

use std::io;
use std::net::ToSocketAddrs as _;

use sotto_preset::{Reading, Report, Value};
use tokio_modbus::client::sync::{Context, Reader as _, tcp};
use tokio_modbus::{ExceptionCode, Slave};

use super::hand_over::hand_over;
use super::points::points;
use super::{Collector, Site, Trouble, wait_for};
use batches::{Batch, batches};
pub use file::ModbusFile;
use file::Table;
use values::{bit, value};

/// The value of a register that could not be read: a missing reading, never a zero.
const UNAVAILABLE: &str = "unavailable";

/// The registers of one device.
pub(super) struct Registers {
    file: ModbusFile,
    batches: Vec<Batch>,
    /// Readings that were missing since the last that were whole.
    missing: u64,
}

impl Registers {
    pub(super) fn new(file: ModbusFile) -> Self {
        let batches = batches(&file);
        Self { file, batches, missing: 0 }
    }

    fn connect(&self) -> io::Result<Context> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in self.file.host.to_socket_addrs()? {
            let slave = Slave(self.file.unit);
            match tcp::connect_slave_with_timeout(address, slave, Some(self.file.limit)) {
                Ok(mut context) => {
                    context.set_timeout(self.file.limit);
                    return Ok(context);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Reads every register once. The reason why some are missing stands beside the readings; after an error of the
    /// connection all that follow are missing.
    fn read(&self, context: &mut Context) -> (Vec<Reading>, Option<Fault>) {
        let (mut readings, mut fault) = (Vec::new(), None);
        for batch in &self.batches {
            if matches!(fault, Some(Fault::Connection(_))) {
                readings.extend(self.unavailable(batch));
                continue;
            }
            match words(context, batch) {
                Ok(words) => readings.extend(self.readings(batch, &words)),
                Err(error @ Fault::Connection(_)) => {
                    readings.extend(self.unavailable(batch));
                    fault = Some(error);
                }
                // One wrong address must not silence its neighbours.
                Err(Fault::Exception(code)) => {
                    fault.get_or_insert(Fault::Exception(code));
                    for alone in batch.alone(&self.file) {
                        match words(context, &alone) {
                            Ok(words) => readings.extend(self.readings(&alone, &words)),
                            Err(_) => readings.extend(self.unavailable(&alone)),
                        }
                    }
                }
            }
        }
        (readings, fault)
    }

    fn readings(&self, batch: &Batch, words: &Words) -> Vec<Reading> {
        let of = |index: &usize| {
            let register = &self.file.registers[*index];
            let at = usize::from(register.address - batch.address);
            let value = match words {
                Words::Registers(words) => words.get(at..).and_then(|words| value(register, words)),
                Words::Bits(bits) => bits.get(at).map(|on| bit(*on)),
            };
            Reading {
                channel: register.channel.clone(),
                value: value.unwrap_or_else(|| Value::Text(UNAVAILABLE.to_owned())),
                unit: register.unit.clone(),
                kind: register.kind,
            }
        };
        batch.registers.iter().map(of).collect()
    }

    fn unavailable(&self, batch: &Batch) -> Vec<Reading> {
        self.readings(batch, &Words::Registers(Vec::new()))
    }

    fn hand_over(&mut self, readings: Vec<Reading>, site: &Site) {
        let is_missing = |reading: &&Reading| reading.value.as_str() == UNAVAILABLE;
        let missing = readings.iter().filter(is_missing).count() as u64;
        if missing > 0 {
            self.missing += missing;
            tracing::warn!(device = self.file.device, missing = self.missing, "registers could not be read");
        } else {
            self.missing = 0;
        }
        let report = Report { device: self.file.device.clone(), tags: Vec::new(), at: None, readings };
        if let Some(seen) = &site.seen {
            seen.report(&report);
        }
        hand_over(&points(report, "modbus"), &self.name(), site);
    }
}

impl Collector for Registers {
    fn name(&self) -> String {
        format!("modbus {} unit {}", self.file.host, self.file.unit)
    }

    fn collect(&mut self, site: &Site) -> Result<(), Trouble> {
        let mut had_worked = false;
        let mut context = None;
        while !wait_for(self.file.every, &site.stop) {
            let mut connection = match context.take() {
                Some(connection) => connection,
                None => match self.connect() {
                    Ok(connection) => connection,
                    Err(error) => {
                        let missing = self.batches.iter().flat_map(|batch| self.unavailable(batch)).collect();
                        self.hand_over(missing, site);
                        return Err(Trouble { reason: error.to_string(), had_worked });
                    }
                },
            };
            let (readings, fault) = self.read(&mut connection);
            self.hand_over(readings, site);
            match fault {
                // After a time limit an answer may still come: the next one would be taken for another.
                Some(Fault::Connection(reason)) => return Err(Trouble { reason, had_worked }),
                Some(Fault::Exception(code)) => {
                    tracing::warn!(device = self.file.device, %code, "registers are refused");
                }
                None => {}
            }
            had_worked = true;
            context = Some(connection);
        }
        Ok(())
    }
}

/// The answer to a request.
enum Words {
    Registers(Vec<u16>),
    Bits(Vec<bool>),
}

/// The reason why registers could not be read.
enum Fault {
    /// The device answers that it has no such registers, or cannot now.
    Exception(ExceptionCode),
    Connection(String),
}

/// Reads the registers of a batch.
fn words(context: &mut Context, batch: &Batch) -> Result<Words, Fault> {
    let Batch { table, address, count, .. } = *batch;
    let answer = match table {
        Table::Holding => {
            context.read_holding_registers(address, count).map(|read| read.map(Words::Registers))
        }
        Table::Input => context.read_input_registers(address, count).map(|read| read.map(Words::Registers)),
        Table::Coil => context.read_coils(address, count).map(|read| read.map(Words::Bits)),
        Table::Discrete => context.read_discrete_inputs(address, count).map(|read| read.map(Words::Bits)),
    };
    let short =
        || Fault::Connection("an answer has another number of registers than was asked for".to_owned());
    match answer {
        Err(error) => Err(Fault::Connection(error.to_string())),
        Ok(Err(code)) => Err(Fault::Exception(code)),
        Ok(Ok(Words::Registers(words))) if words.len() < usize::from(count) => Err(short()),
        Ok(Ok(Words::Bits(bits))) if bits.len() < usize::from(count) => Err(short()),
        Ok(Ok(words)) => Ok(words),
    }
}
