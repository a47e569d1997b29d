/// The events to watch on a descriptor. A broken connection is always reported; by kqueue while any event is watched.
struct Interest: OptionSet, Sendable {
    let rawValue: UInt8

    static let reading = Interest(rawValue: 1)
    static let writing = Interest(rawValue: 2)
}

/// The events that occurred on a descriptor.
struct Readiness: Sendable {
    let descriptor: Int32
    let isReadable: Bool
    let isWritable: Bool
    /// Whether both directions have ended, so that neither an answer nor a request gets through.
    let isBroken: Bool
}
