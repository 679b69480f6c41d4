//! The messages of an Arrow stream or file, read and decompressed up to bounds before the crate sees them.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek as _, SeekFrom};

use arrow_ipc::{
    Block, Buffer, CompressionType, DictionaryBatchArgs, Endianness, FieldNode, Message, MessageArgs,
    MessageHeader, RecordBatch, RecordBatchArgs,
};
use arrow_schema::Schema;
use flatbuffers::{FlatBufferBuilder, WIPOffset};
use ruzstd::decoding::StreamingDecoder;

/// Maximum bytes of a message's head, and of the directory of a file.
const LARGEST_HEAD: u32 = 16 << 20;
/// Maximum bytes of a message's body, compressed or not: 512 MiB.
const LARGEST_BODY: u64 = 512 << 20;
/// Maximum window of Zstandard: 32 MiB.
const LARGEST_WINDOW: u64 = 32 << 20;
/// Four bytes before the length of a message's head.
const MARK: [u8; 4] = [0xff; 4];
/// The end of a file, behind its directory and the length of that.
const END: &[u8; 6] = b"ARROW1";
/// The buffers of a body begin at multiples of this many bytes.
const ALIGNED: usize = 64;

/// A message without a compression.
pub(super) struct Whole {
    pub(super) head: Vec<u8>,
    pub(super) body: Vec<u8>,
}

/// Where messages are read.
enum From {
    /// One after another.
    Stream(Box<dyn Read + Send>),
    /// Where the directory says: the places of those to come, the last one first.
    File(File, Vec<Block>),
}

/// The messages of a stream or file.
pub(super) struct Messages(From);

impl Messages {
    /// Reads the first message of a stream, which describes the columns.
    pub(super) fn of_stream(from: Box<dyn Read + Send>) -> Result<(Self, Schema), String> {
        let mut messages = Self(From::Stream(from));
        let Whole { head, .. } = messages.next()?.ok_or("it has no columns")?;
        let message = arrow_ipc::root_as_message(&head).map_err(|_| damaged())?;
        let schema = schema(message.header_as_schema())?;
        Ok((messages, schema))
    }

    /// Reads the directory at the end of a file.
    pub(super) fn of_file(mut file: File) -> Result<(Self, Schema), String> {
        let failed = |error: std::io::Error| error.to_string();
        let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut tail = [0; 4 + END.len()];
        let end = length.checked_sub(tail.len() as u64).ok_or_else(cut_off)?;
        read_at(&mut file, end, &mut tail)?;
        let size = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
        if &tail[4..] != END || size > LARGEST_HEAD || u64::from(size) > end {
            return Err(cut_off());
        }
        let mut directory = vec![0; size as usize];
        read_at(&mut file, end - u64::from(size), &mut directory)?;
        let directory = arrow_ipc::root_as_footer(&directory).map_err(|_| damaged())?;
        let schema = schema(directory.schema())?;
        let (dictionaries, batches) = (directory.dictionaries(), directory.recordBatches());
        let blocks = dictionaries.into_iter().flatten().chain(batches.into_iter().flatten());
        let mut blocks: Vec<Block> = blocks.copied().collect();
        blocks.reverse();
        Ok((Self(From::File(file, blocks)), schema))
    }

    /// Returns the next message; `None` behind the last one.
    pub(super) fn next(&mut self) -> Result<Option<Whole>, String> {
        let head = match &mut self.0 {
            From::Stream(from) => {
                let Some(mut length) = four(from)? else { return Ok(None) };
                // Programs before 2019 write no mark.
                if length == MARK {
                    length = four(from)?.ok_or_else(cut_off)?;
                }
                match u32::from_le_bytes(length) {
                    0 => return Ok(None),
                    length if length > LARGEST_HEAD => return Err(damaged()),
                    length => exactly(from, u64::from(length))?,
                }
            }
            From::File(file, blocks) => {
                let Some(block) = blocks.pop() else { return Ok(None) };
                let start = u64::try_from(block.offset()).map_err(|_| damaged())?;
                let length = u32::try_from(block.metaDataLength()).map_err(|_| damaged())?;
                if length > LARGEST_HEAD {
                    return Err(damaged());
                }
                file.seek(SeekFrom::Start(start)).map_err(|error| error.to_string())?;
                let mut head = exactly(file, u64::from(length))?;
                let before = if head.starts_with(&MARK) { 8 } else { 4 };
                head.drain(..before.min(head.len()));
                head
            }
        };
        let message = arrow_ipc::root_as_message(&head).map_err(|_| damaged())?;
        let length = u64::try_from(message.bodyLength()).map_err(|_| damaged())?;
        if length > LARGEST_BODY {
            return Err(too_large(length));
        }
        let body = match &mut self.0 {
            From::Stream(from) => exactly(from, length)?,
            From::File(file, _) => exactly(file, length)?,
        };
        match unpacked(message, &body)? {
            Some(whole) => Ok(Some(whole)),
            None => Ok(Some(Whole { head, body })),
        }
    }
}

/// Reads four bytes; `None` at the end.
fn four(from: &mut impl Read) -> Result<Option<[u8; 4]>, String> {
    let mut bytes = [0; 4];
    let mut filled = 0;
    while filled < bytes.len() {
        match from.read(&mut bytes[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(cut_off()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(Some(bytes))
}

/// Reads so many bytes. Takes memory as they arrive.
fn exactly(from: &mut impl Read, length: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = from.take(length).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if (read as u64) < length { Err(cut_off()) } else { Ok(bytes) }
}

fn read_at(file: &mut File, at: u64, room: &mut [u8]) -> Result<(), String> {
    let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(room));
    read.map_err(|error| error.to_string())
}

/// Returns the description of the columns.
fn schema(described: Option<arrow_ipc::Schema<'_>>) -> Result<Schema, String> {
    let described = described.ok_or_else(damaged)?;
    if described.endianness() != Endianness::Little {
        return Err("its numbers have the high byte first: write it on another computer".to_owned());
    }
    Ok(arrow_ipc::convert::fb_to_schema(described))
}

fn cut_off() -> String {
    "it ends in the middle: copy it again".to_owned()
}

fn damaged() -> String {
    "it is damaged: copy it again".to_owned()
}

fn too_large(length: u64) -> String {
    format!("a batch of rows has {length} bytes, more than 512 MiB: write it with fewer rows in a batch")
}

/// Decompresses the body of a message; `None` if it is not compressed.
fn unpacked(message: Message<'_>, body: &[u8]) -> Result<Option<Whole>, String> {
    let dictionary = message.header_as_dictionary_batch();
    let batch = dictionary.map_or_else(|| message.header_as_record_batch(), |dictionary| dictionary.data());
    let Some((batch, compression)) = batch.and_then(|batch| Some((batch, batch.compression()?))) else {
        return Ok(None);
    };
    let (mut buffers, mut plain) = (Vec::new(), Vec::new());
    for buffer in batch.buffers().ok_or_else(damaged)? {
        let start = usize::try_from(buffer.offset()).map_err(|_| damaged())?;
        let length = usize::try_from(buffer.length()).map_err(|_| damaged())?;
        let bytes = body.get(start..).and_then(|bytes| bytes.get(..length)).ok_or_else(damaged)?;
        let from = plain.len();
        unpack(bytes, compression.codec(), &mut plain)?;
        buffers.push(Buffer::new(from as i64, (plain.len() - from) as i64));
        plain.resize(plain.len().next_multiple_of(ALIGNED), 0);
    }
    let mut builder = FlatBufferBuilder::new();
    let batch = rebuilt(&mut builder, batch, &buffers);
    let (kind, header) = match dictionary {
        None => (MessageHeader::RecordBatch, batch.as_union_value()),
        Some(dictionary) => {
            let arguments =
                DictionaryBatchArgs { id: dictionary.id(), data: Some(batch), isDelta: dictionary.isDelta() };
            let dictionary = arrow_ipc::DictionaryBatch::create(&mut builder, &arguments);
            (MessageHeader::DictionaryBatch, dictionary.as_union_value())
        }
    };
    let arguments = MessageArgs {
        version: message.version(),
        header_type: kind,
        header: Some(header),
        bodyLength: plain.len() as i64,
        custom_metadata: None,
    };
    let message = Message::create(&mut builder, &arguments);
    arrow_ipc::finish_message_buffer(&mut builder, message);
    Ok(Some(Whole { head: builder.finished_data().to_vec(), body: plain }))
}

/// Writes a batch again, with other buffers and without a compression.
fn rebuilt<'b>(
    builder: &mut FlatBufferBuilder<'b>,
    batch: RecordBatch<'_>,
    buffers: &[Buffer],
) -> WIPOffset<RecordBatch<'b>> {
    let nodes: Option<Vec<FieldNode>> = batch.nodes().map(|nodes| nodes.iter().copied().collect());
    let counts: Option<Vec<i64>> = batch.variadicBufferCounts().map(|counts| counts.iter().collect());
    let arguments = RecordBatchArgs {
        length: batch.length(),
        nodes: nodes.map(|nodes| builder.create_vector(&nodes)),
        buffers: Some(builder.create_vector(buffers)),
        compression: None,
        variadicBufferCounts: counts.map(|counts| builder.create_vector(&counts)),
    };
    RecordBatch::create(builder, &arguments)
}

/// Appends the bytes of a buffer. Before them is their length, or -1 if they are not compressed.
fn unpack(bytes: &[u8], codec: CompressionType, out: &mut Vec<u8>) -> Result<(), String> {
    let Some((length, packed)) = bytes.split_first_chunk::<8>() else {
        return if bytes.is_empty() { Ok(()) } else { Err(damaged()) };
    };
    let length = match i64::from_le_bytes(*length) {
        -1 => {
            out.extend_from_slice(packed);
            return Ok(());
        }
        length => u64::try_from(length).map_err(|_| damaged())?,
    };
    if length + out.len() as u64 > LARGEST_BODY {
        return Err(too_large(length));
    }
    let before = out.len();
    let read = match codec {
        CompressionType::LZ4_FRAME => {
            lz4_flex::frame::FrameDecoder::new(packed).take(length + 1).read_to_end(out)
        }
        CompressionType::ZSTD => StreamingDecoder::new_with_max_window_size(packed, LARGEST_WINDOW)
            .map_err(|_| damaged())?
            .take(length + 1)
            .read_to_end(out),
        _ => return Err("it has a compression other than LZ4 and Zstandard: write it without".to_owned()),
    };
    read.map_err(|_| damaged())?;
    if (out.len() - before) as u64 == length { Ok(()) } else { Err(damaged()) }
}
