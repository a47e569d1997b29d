/// Invented test keys; none of them protects anything.
package enum TestPEM {
    /// Valid from 2026 to 2126.
    package static let rsaCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIDMzCCAhugAwIBAgIULjsVA5iRpgp71riuEyhu8HybZV4wDQYJKoZIhvcNAQEL
        BQAwKDEmMCQGA1UEAwwddW5kZXJzdHVkeSB0ZXN0LCBub3QgYSBzZWNyZXQwIBcN
        MjYxMTIxMTk0NTUwWhgPMjEyNjEwMjgxOTQ1NTBaMCgxJjAkBgNVBAMMHXVuZGVy
        c3R1ZHkgdGVzdCwgbm90IGEgc2VjcmV0MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A
        MIIBCgKCAQEAudxIXaSy6ykSUonO34Jput39gmiOxtXGAdHtl2OkdkCyFn/e9obY
        NRQrBhnIehnAaw6nYjQ56xwqTBCXWZRaTQuweENTg2Krurexr+aeH93C3MxyLDG3
        Y7B7D5YbdHPy5X1guyvFSZxt7k/wPoOsCP4ZK6y2aYeQI1iIfuxrw6eVMD1JzolC
        62OXlu5L2HRvDg1sN3Rp5mqZXnMPbO90MxdGoEDIsi2j5mZDH+Ntf9ArjrLnB9uu
        QJRijOerpRNnZ4LPq+4lKLwm+7am0BhlfeHSQ/a+w/DVbyMJ/6YMPiQrwpJ/kE/y
        rALwhxtUfXxi4JyTCQkDZjnXQStKoz0mOQIDAQABo1MwUTAdBgNVHQ4EFgQULFMo
        LUZfBzYrKi4DyLqFgw2DfF4wHwYDVR0jBBgwFoAULFMoLUZfBzYrKi4DyLqFgw2D
        fF4wDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOCAQEAoGXVITsH3eS0
        gmRAFJb/L2DbqEZyfbsh1TtKGkqV8CPWhWrSt9sUtkaqfu5LeWPTbnoPOR9Mba1+
        ijuv1Rvu/qi8570kkbYi3E+jVGXipP9l2sUXkZpdGCRlFN0SAzbpgY7zZPGv+4WC
        G/ovIqL0xFTaA9z/jhrf9mVMII7HMcxhLyrZIPtBg7VbXHsB5Ms+eK2unA5HCsGc
        io5E+Ijrg0Zj2eUboWIgbpnXZbHyZDKmo1dZaayXz0Zp354XRNeeOT6cysm3OsvP
        crGpUcukSTHcqZapR7OBdatvkkUSI+OJn5hG/yEFhIrr0owW653n8Zfw1IAmKMdj
        eEQ5tzky7w==
        -----END CERTIFICATE-----
        """

    /// The public key of the certificate.
    package static let rsaPublic = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAudxIXaSy6ykSUonO34Jp
        ut39gmiOxtXGAdHtl2OkdkCyFn/e9obYNRQrBhnIehnAaw6nYjQ56xwqTBCXWZRa
        TQuweENTg2Krurexr+aeH93C3MxyLDG3Y7B7D5YbdHPy5X1guyvFSZxt7k/wPoOs
        CP4ZK6y2aYeQI1iIfuxrw6eVMD1JzolC62OXlu5L2HRvDg1sN3Rp5mqZXnMPbO90
        MxdGoEDIsi2j5mZDH+Ntf9ArjrLnB9uuQJRijOerpRNnZ4LPq+4lKLwm+7am0Bhl
        feHSQ/a+w/DVbyMJ/6YMPiQrwpJ/kE/yrALwhxtUfXxi4JyTCQkDZjnXQStKoz0m
        OQIDAQAB
        -----END PUBLIC KEY-----
        """

    /// The same as RSAPublicKey.
    package static let rsaPKCS1Public = """
        -----BEGIN RSA PUBLIC KEY-----
        MIIBCgKCAQEAudxIXaSy6ykSUonO34Jput39gmiOxtXGAdHtl2OkdkCyFn/e9obY
        NRQrBhnIehnAaw6nYjQ56xwqTBCXWZRaTQuweENTg2Krurexr+aeH93C3MxyLDG3
        Y7B7D5YbdHPy5X1guyvFSZxt7k/wPoOsCP4ZK6y2aYeQI1iIfuxrw6eVMD1JzolC
        62OXlu5L2HRvDg1sN3Rp5mqZXnMPbO90MxdGoEDIsi2j5mZDH+Ntf9ArjrLnB9uu
        QJRijOerpRNnZ4LPq+4lKLwm+7am0BhlfeHSQ/a+w/DVbyMJ/6YMPiQrwpJ/kE/y
        rALwhxtUfXxi4JyTCQkDZjnXQStKoz0mOQIDAQAB
        -----END RSA PUBLIC KEY-----
        """

    /// Its private key as PKCS#8.
    package static let rsaPrivate = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC53EhdpLLrKRJS
        ic7fgmm63f2CaI7G1cYB0e2XY6R2QLIWf972htg1FCsGGch6GcBrDqdiNDnrHCpM
        EJdZlFpNC7B4Q1ODYqu6t7Gv5p4f3cLczHIsMbdjsHsPlht0c/LlfWC7K8VJnG3u
        T/A+g6wI/hkrrLZph5AjWIh+7GvDp5UwPUnOiULrY5eW7kvYdG8ODWw3dGnmaple
        cw9s73QzF0agQMiyLaPmZkMf421/0CuOsucH265AlGKM56ulE2dngs+r7iUovCb7
        tqbQGGV94dJD9r7D8NVvIwn/pgw+JCvCkn+QT/KsAvCHG1R9fGLgnJMJCQNmOddB
        K0qjPSY5AgMBAAECggEAAX7BssYmyHtCD1mriT2tdSWWGt4q4DOF9kuz6CLoMWmB
        EpWuAPNHVTr6WHWCjjqQ4z5A5LUj7k3MUyRoMUi/HA2kZRKb6aufKHSpQw+IAAc1
        dc0BEfUG7drUjJosp53LVg2xho6aNabCtXcdaRqqT+q1CrZxmQz7APvJolAWKFgN
        it4Ne3Sh2lcfr1fvZnZcO7RZzVWC/86KJHaSp+TsVkoY0lnGZDZkbtRjlWkwSoA3
        7wBJWz8lBaitLPv1Wl7k6cizykWVQR0HTNItkBafShThRoyaquz2mSKB/NsWE0YY
        kSWtNz0TLnWQmnLJ+h/1ioUwdrHw//LAOnXnf3yPgQKBgQDwqVOg+IOaUmwxToy+
        NXnb0yeUINEXY+hefEwvUe/zw2ZXvzAh8K2eccEJyUaiKQGd0+KXFwOlemxR/Bnj
        TcubwS9Ij11iBY8vB6A/k35uv+w5TAziIBVA+RIMeylKto/Bv8AA4k25jthMPXCY
        ja/K09B0WjEuZIC3MdZ0gkYGuQKBgQDFtNBxLDy+PT6GNH67OryRs5AyhKvHintL
        c80be7DJZF9xpWSzTldihJLlJcLA2P9YbqdE8EGy4cdFwmi9hMjM/+t0/vdolUpY
        9bJPO7PHa7ap0NzeWGiMI3eHcnHS0Les7DnOnlQ+UTnoM4tpAXPa7YxBDZ35W27e
        HwH8HhBbgQKBgFqB49CrBZtZGhVlDCtQozaX78+Wk+wvB6nZJzG4p/xN5URkw65P
        /IuVDlsm1iiQMWpw0EuwPQ/Tvb8Lh5Tjogo+mhC40g7WNmYigRLH3om6JhXaUxIL
        rNKVmUMWYo4VoHTmL0hl04NQhGoPxTOqPY2TIVdQwCRJadr7pEKG590JAoGATy04
        hPpYYT+ZuJlxX34IYrlsuC6VtNXqxq7bp3QDusOtzY+VIpHvQQ8i3Q4gTqcYq8u0
        xVEKnp749SEEXVG+MQsUusgZQRL4sWPEQyL/vo+OmbeBnLH/PJA/oEje+LSJuoDo
        La0Ow943uJxb6nOgeD7F+o9/gotxfRch7lwD5QECgYEA5V5HytBvMGeSNcWRfBk2
        4+uleYaUHyks5txHxW6Y1K1b6JkJvkLQKKaD/+NsWxKVsZ3NkmmxemO4sECWMyf6
        z6PZkamylNLG5frwVqKjF35Uk6Xlx5UZaiTm5lNZDyvfCmerDcaSNsqBwyq52IyZ
        rrg02nfBIQL1nT3kAGdF2Dg=
        -----END PRIVATE KEY-----
        """

    /// Its private key as RSAPrivateKey.
    package static let rsaPKCS1Private = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEowIBAAKCAQEAudxIXaSy6ykSUonO34Jput39gmiOxtXGAdHtl2OkdkCyFn/e
        9obYNRQrBhnIehnAaw6nYjQ56xwqTBCXWZRaTQuweENTg2Krurexr+aeH93C3Mxy
        LDG3Y7B7D5YbdHPy5X1guyvFSZxt7k/wPoOsCP4ZK6y2aYeQI1iIfuxrw6eVMD1J
        zolC62OXlu5L2HRvDg1sN3Rp5mqZXnMPbO90MxdGoEDIsi2j5mZDH+Ntf9ArjrLn
        B9uuQJRijOerpRNnZ4LPq+4lKLwm+7am0BhlfeHSQ/a+w/DVbyMJ/6YMPiQrwpJ/
        kE/yrALwhxtUfXxi4JyTCQkDZjnXQStKoz0mOQIDAQABAoIBAAF+wbLGJsh7Qg9Z
        q4k9rXUllhreKuAzhfZLs+gi6DFpgRKVrgDzR1U6+lh1go46kOM+QOS1I+5NzFMk
        aDFIvxwNpGUSm+mrnyh0qUMPiAAHNXXNARH1Bu3a1IyaLKedy1YNsYaOmjWmwrV3
        HWkaqk/qtQq2cZkM+wD7yaJQFihYDYreDXt0odpXH69X72Z2XDu0Wc1Vgv/OiiR2
        kqfk7FZKGNJZxmQ2ZG7UY5VpMEqAN+8ASVs/JQWorSz79Vpe5OnIs8pFlUEdB0zS
        LZAWn0oU4UaMmqrs9pkigfzbFhNGGJElrTc9Ey51kJpyyfof9YqFMHax8P/ywDp1
        5398j4ECgYEA8KlToPiDmlJsMU6MvjV529MnlCDRF2PoXnxML1Hv88NmV78wIfCt
        nnHBCclGoikBndPilxcDpXpsUfwZ403Lm8EvSI9dYgWPLwegP5N+br/sOUwM4iAV
        QPkSDHspSraPwb/AAOJNuY7YTD1wmI2vytPQdFoxLmSAtzHWdIJGBrkCgYEAxbTQ
        cSw8vj0+hjR+uzq8kbOQMoSrx4p7S3PNG3uwyWRfcaVks05XYoSS5SXCwNj/WG6n
        RPBBsuHHRcJovYTIzP/rdP73aJVKWPWyTzuzx2u2qdDc3lhojCN3h3Jx0tC3rOw5
        zp5UPlE56DOLaQFz2u2MQQ2d+Vtu3h8B/B4QW4ECgYBagePQqwWbWRoVZQwrUKM2
        l+/PlpPsLwep2ScxuKf8TeVEZMOuT/yLlQ5bJtYokDFqcNBLsD0P072/C4eU46IK
        PpoQuNIO1jZmIoESx96JuiYV2lMSC6zSlZlDFmKOFaB05i9IZdODUIRqD8Uzqj2N
        kyFXUMAkSWna+6RChufdCQKBgE8tOIT6WGE/mbiZcV9+CGK5bLgulbTV6sau26d0
        A7rDrc2PlSKR70EPIt0OIE6nGKvLtMVRCp6e+PUhBF1RvjELFLrIGUES+LFjxEMi
        /76Pjpm3gZyx/zyQP6BI3vi0ibqA6C2tDsPeN7icW+pzoHg+xfqPf4KLcX0XIe5c
        A+UBAoGBAOVeR8rQbzBnkjXFkXwZNuPrpXmGlB8pLObcR8VumNStW+iZCb5C0Cim
        g//jbFsSlbGdzZJpsXpjuLBAljMn+s+j2ZGpspTSxuX68Faioxd+VJOl5ceVGWok
        5uZTWQ8r3wpnqw3GkjbKgcMqudiMma64NNp3wSEC9Z095ABnRdg4
        -----END RSA PRIVATE KEY-----
        """

    /// Valid from 2020 until 2021-01-01T12:30:15Z.
    package static let ecCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBPDCB46ADAgECAgFNMAoGCCqGSM49BAMCMCgxJjAkBgNVBAMMHXVuZGVyc3R1
        ZHkgdGVzdCwgbm90IGEgc2VjcmV0MB4XDTIwMDEwMTAwMDAwMFoXDTIxMDEwMTEy
        MzAxNVowKDEmMCQGA1UEAwwddW5kZXJzdHVkeSB0ZXN0LCBub3QgYSBzZWNyZXQw
        WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARmqinfmfepgOwJ7ZzCBmqp3ZYM9pyf
        zX8ofuJJuX7f2ns2tmYgeE2y1rSpxETgHCBkKZR5ixqJin6iQxFsyBbfMAoGCCqG
        SM49BAMCA0gAMEUCIBgcoW9PS9JmtCxdJDmFrpSNonIKsJkdWv2zr/dEe/p1AiEA
        mTStUko7JjH3uV/t35VHRoWmOkCMuBOzNKJUpnOFAy8=
        -----END CERTIFICATE-----
        """

    /// Its private key, with the parameters block that OpenSSL writes.
    package static let ecPrivate = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIPNh0OayAwTXxe8hK7YgdMRWkkAVIlPTqHEzhFC3OTZyoAoGCCqGSM49
        AwEHoUQDQgAEZqop35n3qYDsCe2cwgZqqd2WDPacn81/KH7iSbl+39p7NrZmIHhN
        sta0qcRE4BwgZCmUeYsaiYp+okMRbMgW3w==
        -----END EC PRIVATE KEY-----
        """

    /// Ed25519.
    package static let edwardsPublic = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAnm1+TtF1yRwqsS1+9k11xp1Bl5dH+96+mAHhLEuQk3E=
        -----END PUBLIC KEY-----
        """

    /// Its private key.
    package static let edwardsPrivate = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJavGi0z/z0MBZjmLabnUwTVzRJb8v503jb7s3Tz5REV
        -----END PRIVATE KEY-----
        """

    /// RSA with exponent 3.
    package static let exponentThree = """
        -----BEGIN PUBLIC KEY-----
        MIIBIDANBgkqhkiG9w0BAQEFAAOCAQ0AMIIBCAKCAQEAv3h2SHsLh0XiS07s00pE
        Hf9FAlEXh/EhuGizSV0izdmfiOZew7fXzT0miL4cHbQU8Fj/emtRh5ooBgztla3A
        9j26GUDVm6Xcsk1ff85KyEdSIIVNrb7ZW50dxXz1i0+14CwDv4sqhrUDSJ3c8Aqo
        sQFAVgfk62WVn+J+au3GplU4bMrlG8z+IPM/MCwHhzCke1BNh2tiuiO54NsEHXaN
        hMg/h5+/XytT47CqZhCuE1+l0f2yjKuAyHnzlDgYd5hRYh++iveVEWpVxGymMxb1
        pd7nVR/izHX0EfrVF977mupjYnRkSPIPs1wy2yFgJ8+p4MTwRAI9R11KdKGz/aSn
        /wIBAw==
        -----END PUBLIC KEY-----
        """

    /// Too short.
    package static let rsa1024 = """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC3zm1fpuRGuCF330f8dY/ZauC3
        QCTiMDV/EmTsbe4dk10U70RXPsFdm7rsVi4+w+3isIQ9yHCjzSNIMgJrPQGFSlD1
        UUTqhdLarTorLmpeFX5a0TDei9G9KwJdUd3XS2zzJ5qqh0hVjbUFde2Gge8h1iXT
        6vkZ7l8Ovyst/LQXCQIDAQAB
        -----END PUBLIC KEY-----
        """

    /// A curve that no supported algorithm uses.
    package static let secp256k1 = """
        -----BEGIN PUBLIC KEY-----
        MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAExo/Ktq1jZwuW34MFiZYUvn2DDPqkaJrt
        wX5hKms/+JITJE5Tbt7a1iEyV2woQwT05NfLiPf0OpnJDY7naaJe0A==
        -----END PUBLIC KEY-----
        """

    /// P-256 given by its parameters instead of its name.
    package static let explicitCurve = """
        -----BEGIN PUBLIC KEY-----
        MIIBSzCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAA
        AAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA////
        ///////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSd
        NgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5
        RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA
        //////////+85vqtpxeehPO5ysL8YyVRAgEBA0IABLQZFacsqRcG8P7y5E/KkiM0
        TJs9jveS2BZAzcAR9aFCZl7IWaUhMsBHuaFmCi3NkG39d+Zleb8RB5hLmsCBJ54=
        -----END PUBLIC KEY-----
        """

    /// RSA for PSS only.
    package static let restrictedPSS = """
        -----BEGIN PUBLIC KEY-----
        MIIBIDALBgkqhkiG9w0BAQoDggEPADCCAQoCggEBAKDnerUXGKnvqmuVGdPfZA39
        9xAjTE6l1iz4XDHABo+zQgkB6RJYjQ4JBGRZpwohP4gkGwF82uGLyKBsnNseFZSX
        eo5bkyqcW5ifX6ewIUgDzYC0MXAAJdocgzoXUiR9hkp9jVw0j2yzc11Uegck4+vy
        sibpfRxaoNB48CHFwsBVtJO2fvdLAmsDIh35Gg6ZE2mTmnrI2gFMs/TTWxt4U/Ft
        MOGgOCoshGOUuHxcK+W5OMfWFUABUJ+mHWwaopPWjgCU6vYQ0K8OEmcgPFS916Dw
        v0POVBD+dzpWehhC7pNEYxWFMWY8mkRl2kBooTp2YEkvEuH1utrzzkOqEsDKAzkC
        AwEAAQ==
        -----END PUBLIC KEY-----
        """

    /// A key that cannot sign.
    package static let x25519 = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VuAyEAeOYGKhKdAAG+tJMks/GnNvsjaysutVQ7eNnIF+5yFTk=
        -----END PUBLIC KEY-----
        """

    /// Password-protected PKCS#8.
    package static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhQm701UCEw+QICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEIXzAU9n+2DlUQoiQzokvecEgZD3
        IrcH/nIa4iZj//s0VbxOcKJ2jUR00SYCol3K9w0rIAKo9agzLrfUX27PBmuIv79e
        tjT8XNkwcqjGSjnv4Xumkqs4tuASgsf5L98cKIQG5ejHtVkwOga1NqkKjqvXBgZi
        YGqjNZd3y4/qk56qY6APnM2Nv9evmMpOVvZTumCVXVhFLHUIxg5JDze9mOcWkX4=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// Password-protected in the older format.
    package static let encryptedOld = """
        -----BEGIN EC PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,A925ADF918D50C1A81C9794727D8C28A

        9l+gVSfaChJ237ivrzXUixbQaTf5/p9FKcNpI3pqd2vQTJQ2g7w0Ec3o35p0lOKZ
        +6+ETjBCjMmErZkJQySc2o5Ob/NYBy4ER1LXq5/tQUa0iXWDwxe5ABzyqNIwnR2i
        wnEVlKi733BK5oU/9+n6dHVuDVxwEpigl3NBGwnfPc4=
        -----END EC PRIVATE KEY-----
        """
}
