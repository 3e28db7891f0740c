  0x00007efcf8ed533c:   add    $0x8,%ebx                    ;*iinc {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::logs@34 (line 18)
  0x00007efcf8ed533f:   cmp    %r13d,%ebx
  0x00007efcf8ed5342:   jl     0x00007efcf8ed51f0           ;*if_icmpge {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::logs@15 (line 18)
  0x00007efcf8ed5348:   mov    0x348(%r15),%r10             ; ImmutableOopMap {r14=Oop }
                                                            ;*goto {reexecute=1 rethrow=0 return_oop=0}
                                                            ; - (reexecute) Workload::logs@37 (line 18)
  0x00007efcf8ed534f:   test   %eax,(%r10)                  ;*goto {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::logs@37 (line 18)
                                                            ;   {poll}
  0x00007efcf8ed5352:   cmp    0x4c(%rsp),%ebx
  0x00007efcf8ed5356:   jl     0x00007efcf8ed51b8
  0x00007efcf8ed535c:   mov    0x48(%rsp),%ebp
  0x00007efcf8ed5360:   cmp    %ebp,%ebx
  0x00007efcf8ed5362:   jge    0x00007efcf8ed5393           ;*aload_3 {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::logs@18 (line 18)
  0x00007efcf8ed5364:   vmovsd (%rsp),%xmm0
  0x00007efcf8ed5369:   vaddsd 0x10(%r14,%rbx,8),%xmm0,%xmm0;*dadd {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::logs@28 (line 18)
  0x00007efcf8ed5370:   movabs $0x7efcf893a006,%r10
  0x00007efcf8ed537a:   call   *%r10                        ;*invokestatic log {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::logs@29 (line 18)
  0x00007efcf8ed537d:   vmovsd 0x8(%rsp),%xmm1
  0x00007efcf8ed5383:   vaddsd %xmm0,%xmm1,%xmm0            ;*dadd {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::logs@32 (line 18)
  0x00007efcf8ed5387:   vmovsd %xmm0,0x8(%rsp)
  0x00007efcf8ed538d:   inc    %ebx                         ;*iinc {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::logs@34 (line 18)
  0x00007efcf8ed538f:   cmp    %ebp,%ebx
  0x00007efcf8ed5391:   jl     0x00007efcf8ed5364
  0x00007efcf8ed5393:   vmovsd 0x8(%rsp),%xmm0              ;*if_icmpge {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::logs@15 (line 18)
  0x00007efcf8ed5399:   add    $0x60,%rsp
  0x00007efcf8ed539d:   pop    %rbp
  0x00007efcf8ed539e:   cmp    0x340(%r15),%rsp             ;   {poll_return}
  0x00007efcf8ed53a5:   ja     0x00007efcf8ed53cc
  0x00007efcf8ed53ab:   ret
  0x00007efcf8ed53ac:   vxorpd %xmm0,%xmm0,%xmm0
  0x00007efcf8ed53b0:   jmp    0x00007efcf8ed5399
[Exception Handler]
  0x00007efcf8ed5400:   jmp    0x00007efcf899fa00           ;   {no_reloc}
