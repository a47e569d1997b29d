/// What a loop waits for on a descriptor. A broken connection is reported in any case; by kqueue while there is anything.
struct Interest: OptionSet, Sendable {
    let rawValue: UInt8

    static let reading = Interest(rawValue: 1)
    static let writing = Interest(rawValue: 2)
}

/// What has become possible on a descriptor.
struct Readiness: Sendable {
    let descriptor: Int32
    let isReadable: Bool
    let isWritable: Bool
    /// Whether both directions have ended, so that neither an answer nor a request gets through.
    let isBroken: Bool
}
