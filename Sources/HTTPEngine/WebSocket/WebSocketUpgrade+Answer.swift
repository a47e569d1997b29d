internal import COpenSSL
internal import HTTPTypes
internal import Wire

extension WebSocketHandshake {
    /// `Sec-WebSocket-Accept`, which proves that the handshake was understood (RFC 6455 section 4.2.2).
    var acceptValue: String {
        // OpenSSL may leave errors that a TLS connection on this thread would take for its own.
        defer { ERR_clear_error() }
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        _ = EVP_Digest(text, text.count, &digest, nil, EVP_sha1(), nil)
        // 28 characters and a NUL.
        var encoded = [UInt8](repeating: 0, count: 29)
        let count = EVP_EncodeBlock(&encoded, digest, Int32(digest.count))
        return String(decoding: encoded.prefix(Int(count)), as: UTF8.self)
    }
}

extension WebSocketUpgrade {
    /// The fields of the answer that accepts the handshake, except `Connection`, which the encoder adds.
    ///
    /// A handler's own handshake fields are overridden. A subprotocol that the client did not offer is omitted, since
    /// the client would have to fail the connection (RFC 6455 section 4.1).
    func answerFields(with handlerFields: HTTPFields = [:]) -> HTTPFields {
        var fields = handlerFields
        // No extension is supported, so none can be negotiated; a version is named only in rejections.
        fields[.secWebSocketExtensions] = nil
        fields[.secWebSocketVersion] = nil
        fields[.upgrade] = "websocket"
        fields[.secWebSocketAccept] = handshake.acceptValue
        fields[.secWebSocketProtocol] = offeredSubprotocol
        return fields
    }

    /// Compared byte for byte, as the client does.
    private var offeredSubprotocol: String? {
        guard let subprotocol else { return nil }
        return handshake.subprotocols.first { $0.utf8.elementsEqual(subprotocol.utf8) }
    }
}
