internal import COpenSSL

/// The parameters of one key as an OpenSSL list, which is freed with the last reference.
final class ParameterList {
    let pointer: UnsafeMutablePointer<OSSL_PARAM>
    private let borrowed: Borrowed

    init?(_ parameters: [KeyBuilder.Parameter]) {
        guard let builder = OSSL_PARAM_BLD_new() else { return nil }
        defer { OSSL_PARAM_BLD_free(builder) }
        let borrowed = Borrowed()
        guard parameters.allSatisfy({ borrowed.push($0, to: builder) }),
            let list = OSSL_PARAM_BLD_to_param(builder)
        else { return nil }
        pointer = list
        self.borrowed = borrowed
    }

    deinit { OSSL_PARAM_free(pointer) }
}

/// Stable memory for names, numbers and bytes: builder and list only borrow them, the names for their whole lifetime.
private final class Borrowed {
    private var numbers: [OpaquePointer] = []
    private var buffers: [UnsafeMutableRawBufferPointer] = []

    deinit {
        numbers.forEach { BN_clear_free($0) }
        for buffer in buffers {
            OPENSSL_cleanse(buffer.baseAddress, buffer.count)
            buffer.deallocate()
        }
    }

    func push(_ parameter: KeyBuilder.Parameter, to builder: OpaquePointer) -> Bool {
        switch parameter {
        case .number(let name, let bytes):
            guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { return false }
            numbers.append(number)
            return OSSL_PARAM_BLD_push_BN(builder, copy(name), number) == 1
        case .octets(let name, let bytes):
            return OSSL_PARAM_BLD_push_octet_string(builder, copy(name), copy(bytes).baseAddress, bytes.count) == 1
        case .text(let name, let text):
            return OSSL_PARAM_BLD_push_utf8_string(builder, copy(name), copy(text), 0) == 1
        }
    }

    private func copy(_ text: String) -> UnsafePointer<CChar>? {
        UnsafePointer(copy(Array(text.utf8) + [0]).bindMemory(to: CChar.self).baseAddress)
    }

    private func copy(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        buffer.copyBytes(from: bytes)
        buffers.append(buffer)
        return buffer
    }
}
