  0x00007efcf8ece1f3:   cmp    %r9d,%r13d
  0x00007efcf8ece1f6:   jae    0x00007efcf8ece538
  0x00007efcf8ece1fc:   mov    0x10(%r11,%r13,4),%ebp       ;*iaload {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::dot@13 (line 12)
  0x00007efcf8ece201:   cmp    %r8d,%r13d
  0x00007efcf8ece204:   jae    0x00007efcf8ece55c
  0x00007efcf8ece20a:   imul   0x10(%rbx,%r13,4),%ebp
  0x00007efcf8ece210:   add    %ebp,%r14d                   ;*iadd {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::dot@18 (line 12)
  0x00007efcf8ece213:   inc    %r13d                        ;*iinc {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::dot@20 (line 12)
  0x00007efcf8ece216:   cmp    %ecx,%r13d
  0x00007efcf8ece219:   jl     0x00007efcf8ece1f3           ;*if_icmpge {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::dot@7 (line 12)
  0x00007efcf8ece21b:   movslq %r8d,%r10
  0x00007efcf8ece21e:   cmp    %rdx,%r10
  0x00007efcf8ece221:   cmovl  %r10,%rdx
  0x00007efcf8ece225:   mov    %edx,%ecx
  0x00007efcf8ece227:   mov    %ecx,%r10d
  0x00007efcf8ece22a:   add    $0xffffff81,%r10d
  0x00007efcf8ece22e:   cmp    %r10d,%r13d
  0x00007efcf8ece231:   jge    0x00007efcf8ece4e8           ;*goto {reexecute=0 rethrow=0 return_oop=0}
                                                            ; - Workload::dot@23 (line 12)
  0x00007efcf8ece237:   xor    %edx,%edx
