import JSON

/// The events of one customer in order of arrival, packed into one block of bytes.
///
/// A test or a load run may track a million events in one sandbox. As a value, each would take about half a kilobyte;
/// packed, it takes its properties' length as compact JSON, plus about fifteen bytes.
struct BloomreachEventLog: Sendable, Hashable {
    /// The maximum number of events per customer, and their maximum size in bytes (ours). Beyond either, the oldest go,
    /// until a tenth is free.
    static let maximumCount = 10_000
    static let maximumBytes = 2 << 20

    // One record: type code, sequence, length of the properties as varints; timestamp as eight bytes; the properties.
    private var bytes: [UInt8] = []
    private(set) var count = 0

    /// An estimate of the events' memory, including spare capacity.
    var byteCount: Int { Self.memory(of: bytes.count) }

    private static func memory(of length: Int) -> Int { length == 0 ? 0 : 48 + length + length / 8 }

    var isEmpty: Bool { count == 0 }

    /// Appends an event.
    ///
    /// - Parameter type: the code of its type in the project's table.
    mutating func append(type: Int, sequence: Int, timestamp: Double, properties: [UInt8]) {
        grow(by: properties.count + 32)
        append(varint: type)
        append(varint: sequence)
        append(varint: properties.count)
        withUnsafeBytes(of: timestamp.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: properties)
        count += 1
        shrink()
    }

    /// Reserves a fifth more at once: the usual doubling would leave up to half of the memory unused.
    private mutating func grow(by needed: Int) {
        guard bytes.capacity < bytes.count + needed else { return }
        bytes.reserveCapacity(bytes.count + max(needed, bytes.count / 5))
    }

    private mutating func shrink() {
        guard count > Self.maximumCount || byteCount > Self.maximumBytes else { return }
        var records = Records(bytes: bytes)
        var dropped = 0
        while let _ = records.next() {
            dropped += 1
            let rest = Self.memory(of: bytes.count - records.place)
            if count - dropped <= Self.maximumCount * 9 / 10, rest <= Self.maximumBytes * 9 / 10 { break }
        }
        bytes = Array(bytes[records.place...])
        count -= dropped
    }

    private mutating func append(varint value: Int) {
        var rest = UInt64(bitPattern: Int64(value))
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Merges the events of another log, in order of arrival.
    mutating func merge(_ other: BloomreachEventLog) {
        if isEmpty { return self = other }
        var merged = BloomreachEventLog()
        var (mine, theirs) = (Records(bytes: bytes), Records(bytes: other.bytes))
        var (left, right) = (mine.next(), theirs.next())
        while let record = [left, right].compactMap({ $0 }).min(by: { $0.sequence < $1.sequence }) {
            merged.append(record)
            if record.sequence == left?.sequence { left = mine.next() } else { right = theirs.next() }
        }
        self = merged
    }

    private mutating func append(_ record: Record) {
        append(
            type: record.type, sequence: record.sequence, timestamp: record.timestamp,
            properties: Array(record.properties))
    }

    /// One event as packed here.
    struct Record {
        let type: Int
        let sequence: Int
        let timestamp: Double
        /// Compact JSON.
        let properties: ArraySlice<UInt8>
    }

    struct Records: Sequence, IteratorProtocol {
        fileprivate let bytes: [UInt8]
        fileprivate var place = 0

        fileprivate init(bytes: [UInt8]) { self.bytes = bytes }

        mutating func next() -> Record? {
            guard place < bytes.count else { return nil }
            let (type, sequence, length) = (varint(), varint(), varint())
            var bits: UInt64 = 0
            for offset in 0..<8 { bits |= UInt64(bytes[place + offset]) << UInt64(8 * offset) }
            let start = place + 8
            place = start + length
            return Record(
                type: type, sequence: sequence, timestamp: Double(bitPattern: bits), properties: bytes[start..<place])
        }

        private mutating func varint() -> Int {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while true {
                let byte = bytes[place]
                place += 1
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return Int(truncatingIfNeeded: value) }
                shift += 7
            }
        }
    }

    /// The packed events, in order of arrival.
    var records: Records { Records(bytes: bytes) }
}
